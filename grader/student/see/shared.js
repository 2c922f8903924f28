/*
 * shared.js: the kernel's shared arrays in their own shape, between two barriers: who wrote each cell
 * last, who has read it since the barrier, and where a race is.
 */
'use strict';

const EMPTY = -1, UNIT = 39; /* no warp: what the TMA wrote, in the colour of `s7` */
const writerName = w => w === UNIT ? 'the TMA' : `warp ${w}`;

/* From one barrier of the block to the next. @return [{from, to: indices of steps, closes}] */
function phasesOf(kernel) {
    const ends = kernel.barriers.map(b => b.at), all = [];
    let from = 0;
    for (const to of [...ends, kernel.steps.length]) {
        all.push({from, to, closes: kernel.barriers[all.length]});
        from = to + 1;
    }
    return all;
}

const phaseAt = (phases, step) => Math.max(0, phases.findIndex(p => step <= p.to));

/* What the arrays hold at the end of a phase; the last answer is kept. */
function stateAfter(kernel, phases, number) {
    if (kernel.state?.number !== number) kernel.state = {number, states: computeState(kernel, phases, number)};
    return kernel.state.states;
}

function computeState(kernel, phases, number) {
    const states = kernel.arrays.map(a => ({
                                         array: a,
                                         writer: new Int8Array(a.cells).fill(EMPTY),
                                         fresh: new Uint8Array(a.cells),
                                         readers: new Uint32Array(a.cells),
                                         races: new Map()
                                     }));
    const visit = (address, bytes, each) => {
        for (const s of states) {
            const {at, bytes: room, element, cells} = s.array;
            if (address < at || address >= at + room) continue;
            for (let c = Math.floor((address - at) / element); c * element < address - at + bytes && c < cells; c++)
                each(s, c);
        }
    };
    for (let i = 0; i < phases[number].to; i++) {
        const step = kernel.steps[i], now = i >= phases[number].from;
        for (const access of step.accesses || []) {
            if (access.kind === TILE) visit(access.to, access.bytes, (s, c) => (s.writer[c] = UNIT, s.fresh[c] = now));
            if (!SHARED.includes(access.kind)) continue;
            for (const address of addressesOf(access)) {
                if (address === undefined) continue;
                visit(address, access.bytes, (s, c) => {
                    if (access.kind !== 6) s.writer[c] = step.warp, s.fresh[c] = now;
                    if (now && (access.kind === 6 || access.kind === 8)) s.readers[c] |= 1 << step.warp;
                });
            }
        }
        if (now && step.finding && RACES.includes(step.kind))
            visit(step.address, 1, (s, c) => s.races.set(c, `line ${step.place.line}: ${step.finding}`));
    }
    return states;
}

const cellName = (array, c) => sharedName({arrays: [array]}, array.at + c * array.element);
const warpsIn = mask => [...Array(LANES).keys()].filter(w => isOn(mask, w));

function cellWords(s, c) {
    const wrote = s.writer[c] === EMPTY ? 'nobody has written it' :
                                          `${writerName(s.writer[c])} wrote it${s.fresh[c] ? ' since the barrier' : ''}`;
    const read = s.readers[c] ? `, ${
                                    countOf(s.readers[c]) > 4 ?
                                        many(countOf(s.readers[c]), 'warp') + ' have' :
                                        'warps ' + warpsIn(s.readers[c]).join(', ') + ' have'} read it since` :
                                '';
    return `${cellName(s.array, c)}: ${s.races.get(c) || wrote + read}`;
}

function drawCells(s, x0, y0, size) {
    const {array} = s, gap = size > 6 ? 1 : 0, paths = {}, late = [];
    for (let c = 0; c < array.cells; c++) {
        const x = x0 + c % array.columns * size, y = y0 + Math.floor(c / array.columns) * size;
        const kind = s.races.has(c) ? 'race' :
            s.writer[c] === EMPTY   ? 'cell' :
                                      `s${s.writer[c] % 8}${s.fresh[c] ? '' : ' old'  }`;
        const box = `M${n1(x)} ${n1(y)}h${n1(size - gap)}v${n1(size - gap)}h${n1(gap - size)}z`;
        paths[kind] = (paths[kind] || '') + box;
        if (s.readers[c] && !s.races.has(c))
            late.push(
                `M${n1(x + 1.5)} ${n1(y + 1.5)}h${n1(size - gap - 3)}v${n1(size - gap - 3)}h${n1(3 + gap - size)}z`);
        if (s.races.has(c))
            paths[' cross'] = (paths[' cross'] || '') +
                `M${n1(x + 2)} ${n1(y + 2)}l${n1(size - 5)} ${n1(size - 5)}m0 ${n1(5 - size)}l${n1(5 - size)} ${
                                  n1(size - 5)}`;
    }
    return Object.entries(paths).sort(([a], [b]) => a < b ? 1 : -1).map(([kind, d]) => path(d, kind.trim())).join('') +
        (late.length ? path(late.join(''), 'ring') : '');
}

/* Beside a row that one warp has written, its number. */
function rowLabels(s, x, y0, size) {
    let body = '';
    for (let r = 0; r < s.array.rows && size >= 9; r++) {
        const row = [...s.writer.slice(r * s.array.columns, (r + 1) * s.array.columns)].filter(w => w !== EMPTY);
        const all = new Set(row), words = all.size === 1 ? writerName(row[0]) : all.size > 1 ? `${all.size} warps` : '';
        if (words) body += label(x + 5, y0 + r * size + size * 0.75, words, 'soft tiny');
    }
    return body;
}

const arrayTitle = a => `${a.name}${a.sizes.map(n => `[${n}]`).join('')}, ${a.element}-byte elements${
    a.sizes.length < 2 && a.rows > 1 ? `, ${a.columns} to a row` : ''}`;

function sizeOfCell(arrays) {
    const widest = Math.max(...arrays.map(a => a.columns)), tallest = Math.max(...arrays.map(a => a.rows));
    const room = arrays.length > 1 ? WIDTH / 2 - 76 : WIDTH - 80;
    return Math.max(2.5, Math.min(20, room / widest, 520 / tallest));
}

function drawShared(kernel, phase) {
    const phases = phasesOf(kernel), states = stateAfter(kernel, phases, phase), size = sizeOfCell(kernel.arrays);
    let x = 8, y = 24, deepest = 0, body = '';
    for (const s of states) {
        const width = Math.max(s.array.columns * size + 56, 210), height = s.array.rows * size + 40;
        if (x > 8 && x + width > WIDTH) x = 8, y += deepest, deepest = 0;
        body += label(x, y - 8, arrayTitle(s.array), 'strong') +
            `<g data-array="${escaped(s.array.name)}" data-x="${n1(x)}" data-y="${n1(y)}" data-size="${n1(size)}">` +
            drawCells(s, x, y, size) + '</g>' + rowLabels(s, x + s.array.columns * size, y, size);
        x += width;
        deepest = Math.max(deepest, height);
    }
    return svg(WIDTH, y + deepest, sharedSentence(kernel, phase), body + drawLegend(y + deepest - 20));
}

function drawLegend(y) {
    const words = [
        ['s4', 'written since the barrier'], ['s4 old', 'before it'], ['cell', 'never'], ['', 'read since'],
        ['race', 'race']
    ];
    return words
        .map(([kind, text], i) => {
            const x = 8 + [0, 170, 260, 326, 420][i], box = `M${x} ${y}h11v11h-11z`;
            return path(box, kind || 'cell') + (kind ? '' : path(`M${x + 1.5} ${y + 1.5}h8v8h-8z`, 'ring')) +
                (kind === 'race' ? path(`M${x + 2} ${y + 2}l7 7m0 -7l-7 7`, 'cross') : '') +
                label(x + 17, y + 10, text, 'soft');
        })
        .join('');
}

function phaseName(kernel, phases, number) {
    const {closes} = phases[number], before = number ? phases[number - 1].closes : null;
    const line = b => `barrier ${b === closes ? number + 1 : number} (line ${b.key.split(':').pop()})`;
    if (!before && !closes) return 'The whole block, which has no barrier';
    return `${before ? `From ${line(before)}` : 'From the start'} ${closes ? `to ${line(closes)}` : 'to the end'}`;
}

function sharedSentence(kernel, phase) {
    if (!kernel.arrays.length) return 'This kernel has no shared memory.';
    const phases = phasesOf(kernel), states = stateAfter(kernel, phases, phase);
    const sum = of => states.reduce((n, s) => n + of(s), 0), cells = sum(s => s.array.cells);
    const fresh = sum(s => s.fresh.reduce((a, b) => a + b, 0)),
          read = sum(s => s.readers.reduce((n, r) => n + (r ? 1 : 0), 0));
    const empty = sum(s => s.writer.reduce((n, w) => n + (w === EMPTY ? 1 : 0), 0)), races = sum(s => s.races.size);
    const words =
        `${phaseName(kernel, phases, phase)}: ${fresh ? many(fresh, 'cell') : 'none'} of ${cells.toLocaleString('en')}${
            fresh ? '' : ' cells'} written, ${read ? read.toLocaleString('en') : 'none'} read` +
        `${empty ? `, ${many(empty, 'cell')} still unwritten` : ''}.`;
    return races ? `${words} A race in ${many(races, 'cell')}: no barrier stands between the write and the read.` :
                   words;
}
