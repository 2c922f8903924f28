/*
 * trace.js: from a line of softgpu's trace (emulator/device/trace/trace.h) to what views draw.
 *
 * Interface
 *   readKernel(raw, sources)     one kernel: its steps, lines, arrays, schedule
 *   addressesOf(access)          of the 32 lanes; undefined where a lane is off
 *   globalName, sharedName       "b[33]", "tile[2][16]"
 */
'use strict';

const LANES = 32;
const GLOBAL = [1, 2, 3], SHARED = [6, 7, 8, 9]; /* kinds of accesses: device/counts/count.h */
const WORDS = ['', 'load', 'store', 'atomic', 'load', 'store', 'load', 'store', 'atomic', 'copy'];
const ARRIVE = 10, WAITED = 12, TILE = 13; /* at an mbarrier; what the TMA brought */
const RACES = [2, 12]; /* kinds of findings: device/finding.h */

const isOn = (mask, lane) => mask >>> lane & 1;

function countOf(mask) {
    let n = 0;
    for (let m = mask >>> 0; m; m = (m & m - 1) >>> 0) n++;
    return n;
}

/* ---- accesses ------------------------------------------------------------------------------------ */

function readAccess(raw) {
    const [kind, bytes, mask, units] = raw;
    if (kind === TILE) {
        const [, , step, phase, to, barrier, rowBytes, swizzle, ...corner] = raw;
        return {kind, bytes, mask: 0, units: 0, step, phase, to, barrier, rowBytes, swizzle, corner};
    }
    return {kind, bytes, mask, units, from: raw[4], step: raw[5]};
}

function addressesOf(access) {
    const list = new Array(LANES);
    for (let lane = 0, n = 0; lane < LANES; lane++) {
        if (!isOn(access.mask, lane)) continue;
        list[lane] = access.step === undefined ? access.from[n++] : access.from + lane * access.step;
    }
    return list;
}

/* ---- what the source says of names and shapes ---------------------------------------------------- */

const SIZES = {
    char: 1,
    int8_t: 1,
    uint8_t: 1,
    bool: 1,
    half: 2,
    __half: 2,
    short: 2,
    __nv_bfloat16: 2,
    half2: 4,
    __half2: 4,
    double: 8,
    float2: 8,
    int2: 8,
    long: 8,
    size_t: 8,
    int64_t: 8,
    uint64_t: 8,
    float4: 16,
    int4: 16,
    uint4: 16
};
const sizeOfType = words => (words.match(/\w+/g) || []).map(w => SIZES[w]).find(Boolean) || 4;

/* Values of #define, const, constexpr and enum, as text. */
function constantsOf(source) {
    const found = {};
    const is = /(?:#define\s+(\w+)[ \t]+([^\n]+))|(?:\b(\w+)\s*=\s*([^,;{}=]+?)\s*[,;}])/g;
    const text = source.replace(/\/\*[^]*?\*\/|\/\/.*/g, '');
    for (const m of text.matchAll(is)) {
        const name = m[1] || m[3];
        if (!(name in found)) found[name] = m[2] || m[4];
    }
    return found;
}

/* An expression of C with numbers, names, + - * / % << >> and brackets.
 * @return its value, or a name in it that has none */
function evaluate(text, constants, depth = 0) {
    const words = text.replace(/sizeof\s*\(\s*(?:float|int)\s*\)/g, '4').match(/<<|>>|[-+*\/%()]|\w+/g) || [];
    const LEVELS = [['<<', '>>'], ['+', '-'], ['*', '/', '%']];
    const RULES = {
        '<<': (a, b) => a << b,
        '>>': (a, b) => a >> b,
        '+': (a, b) => a + b,
        '-': (a, b) => a - b,
        '*': (a, b) => a * b,
        '/': (a, b) => Math.trunc(a / b),
        '%': (a, b) => a % b
    };
    let at = 0, lacking;
    const single = () => {
        const word = words[at++];
        if (word === '(') {
            const value = level(0);
            at++;
            return value;
        }
        if (/^\d/.test(word)) return parseInt(word);
        const value = depth < 8 && word in constants ? evaluate(constants[word], constants, depth + 1) : word;
        if (typeof value !== 'number') lacking = lacking || value || '?';
        return value;
    };
    const level = n => {
        let value = n < LEVELS.length ? level(n + 1) : single();
        while (n < LEVELS.length && LEVELS[n].includes(words[at])) value = RULES[words[at++]](value, level(n + 1));
        return value;
    };
    const value = level(0);
    return lacking || value;
}

/* The sizes of an array of so many elements; one size that only a template knows follows from the others. */
function solve(sizes, constants, elements) {
    const product = all => all.reduce((a, b) => a * b, 1);
    let all = sizes.map(s => evaluate(s, constants));
    const lacking = all.find(n => typeof n !== 'number');
    for (let n = 1; lacking && n <= 1024; n++) {
        const tried = sizes.map(s => evaluate(s, {...constants, [lacking]: String(n)}));
        if (tried.every(v => typeof v === 'number') && product(tried) === elements) all = tried;
    }
    return product(all) === elements ? all : [elements];
}

/* Where the source declares a shared array of that name. */
function declarationOf(name, source) {
    for (const m of source.matchAll(/__shared__([^;]*);/g)) {
        const at = m[1].match(new RegExp(`^([^\\[]*?)\\b${name}\\s*((?:\\[[^\\]]*\\]\\s*)*)(?:,|$)`)) ||
            m[1].match(new RegExp(`^(.*?)\\b${name}\\s*((?:\\[[^\\]]*\\]\\s*)*)(?:,|$)`, 's'));
        if (at) return {type: at[1], sizes: [...at[2].matchAll(/\[([^\]]*)\]/g)].map(s => s[1])};
    }
    return {type: '', sizes: []};
}

/* Cells in a row of what has no rows of its own: one of each bank, or some times as many. */
function widthOf(cells) {
    let width = 32;
    while (width < 256 && cells > 96 * width) width *= 2;
    return width;
}

function readArray([name, at, bytes], source, constants) {
    const d = declarationOf(name, source);
    const size = Math.max(sizeOfType(d.type), d.sizes.filter(s => s.trim()).length ? 1 : 4); /* of mere bytes, words */
    const element = bytes % size === 0 ? size : 4;
    const cells = Math.max(1, Math.floor(bytes / element));
    const sizes = solve(d.sizes.filter(s => s.trim()), constants, cells);
    const columns = sizes.length > 1 ? sizes[sizes.length - 1] : Math.min(cells, widthOf(cells));
    return {name, at, bytes, element, cells, sizes, columns, rows: Math.ceil(cells / columns)};
}

function readParameters(raw, source) {
    const m = source.match(new RegExp(`\\b${raw.kernel}\\s*\\(([^)]*)\\)\\s*\\{`));
    const words = m ? m[1].split(',') : [];
    return raw.parameters.map((p, i) => p && {
        name: (words[i] || '').match(/(\w+)\s*$/)?.[1] || `argument ${i + 1}`,
        element: sizeOfType((words[i] || '').split('*')[0]),
        value: p[0],
        base: p[1],
        bytes: p[2],
    });
}

function globalName(kernel, address) {
    const inside = kernel.parameters.filter(p => p && address >= p.base && address < p.base + p.bytes);
    const p = inside.filter(q => address >= q.value).sort((a, b) => b.value - a.value)[0] || inside[0];
    if (p) return `${p.name}[${Math.floor((address - p.value) / p.element)}]`;
    kernel.elsewhere ??= address; /* of no argument: where it lies says nothing, how far apart does */
    return `elsewhere${address < kernel.elsewhere ? '' : '+'}${address - kernel.elsewhere}`;
}

function sharedName(kernel, address) {
    const a = kernel.arrays.find(x => address >= x.at && address < x.at + x.bytes);
    if (!a) return `byte ${address}`;
    let index = Math.floor((address - a.at) / a.element), words = '';
    for (const size of [...a.sizes].reverse()) {
        words = `[${index % size}]${words}`;
        index = Math.floor(index / size);
    }
    return a.name + words;
}

/* ---- lines --------------------------------------------------------------------------------------- */

/* The innermost place that is in a file of the submission. */
function placeOf(chain, sources) {
    for (let i = 0; i + 1 < chain.length; i += 2) {
        if (chain[i] in sources) return {file: chain[i], line: chain[i + 1]};
    }
    return {file: chain[chain.length - 2], line: chain[chain.length - 1]};
}

const keyOf = place => `${place.file}:${place.line}`;

function readInstruction(raw, sources) {
    const [number, opcode, chain, traffic, executed, lanes, requests, units, bytes, least, barrier] = raw;
    const place = placeOf(chain, sources);
    return {number, opcode, place, key: keyOf(place), traffic, executed, lanes, requests, units, bytes, least, barrier};
}

/* What each line cost in the whole launch. */
function addLines(instructions) {
    const lines = new Map();
    for (const i of instructions.values()) {
        const {key} = i;
        if (!lines.has(key)) {
            lines.set(key, {
                key,
                ...i.place,
                instructions: 0,
                lanes: 0,
                requests: 0,
                sectors: 0,
                bytes: 0,
                asked: 0,
                passes: 0,
                least: 0,
                barriers: 0,
                local: 0
            });
        }
        const l = lines.get(key);
        l.instructions += i.executed;
        l.lanes += i.lanes;
        if (i.barrier) l.barriers += i.executed;
        if (GLOBAL.includes(i.traffic)) l.requests += i.requests, l.sectors += i.units, l.bytes += i.bytes;
        if (SHARED.includes(i.traffic)) l.asked += i.requests, l.passes += i.units, l.least += i.least;
        if (i.traffic === 4 || i.traffic === 5) l.local += i.units;
    }
    return lines;
}

/* What a line does to memory, for a picture that shows no source; each has a colour of its own. */
const ROLES = [
    'loads global memory', 'loads global memory, stores to shared memory', 'stores to shared memory',
    'loads shared memory', 'loads shared memory, stores to shared memory', 'shuffles', 'stores to global memory'
];

function roleOf(kernel, key) {
    const own = [...kernel.instructions.values()].filter(i => i.key === key && i.executed);
    const kinds = new Set(own.filter(i => i.requests).map(i => i.traffic));
    const roles =
        [
            [[1], 'loads global memory'], [[6], 'loads shared memory'], [[7], 'stores to shared memory'],
            [[2], 'stores to global memory'], [[3, 8], 'atomics']
        ].filter(([all]) => all.some(k => kinds.has(k)))
            .map(([, words]) => words);
    if (own.some(i => i.opcode.startsWith('shfl'))) roles.push('shuffles');
    return roles.join(', ');
}

/* ---- steps --------------------------------------------------------------------------------------- */

const NONE = [];

function readStep(raw, instructions) {
    if (raw[0] === -1) return {barrier: raw[1], warps: raw[2]};
    if (raw[0] === -2) {
        const [, kind, warp, lane, address, file, line, text] = raw;
        return {finding: text, kind, warp, lane, address, place: {file, line}, accesses: []};
    }
    const instruction = instructions.get(raw[1]);
    const accesses = raw.length > 3 ? raw.slice(3).map(readAccess) : NONE;
    return {warp: raw[0], instruction, mask: raw[2], accesses, key: instruction.key, column: 0};
}

/* A finding without words has those of the first of its kind and line. */
function shareWords(kernel) {
    const words = new Map();
    for (const s of kernel.steps) {
        if (s.finding === undefined) continue;
        const key = `${s.kind}:${keyOf(s.place)}`;
        if (s.finding) words.set(key, s.finding);
        s.finding = words.get(key) || 'the same again';
    }
}

/* Whatever comes to an mbarrier ends its phase no earlier; a wait for the phase ends no earlier than that. A
 * tile comes when the first warp waits for it: later is not allowed, and earlier nobody can tell. */
function atMbarriers(kernel, step, ends) {
    for (const a of step.accesses) {
        if (a.kind < ARRIVE) continue;
        const at = a.kind === TILE ? a.barrier : addressesOf(a).find(address => address !== undefined);
        const key = `${at}:${a.kind === TILE ? a.phase : a.units}`, end = ends.get(key) || 0;
        if (a.kind === WAITED && end > step.column) {
            kernel.waits.push({warp: step.warp, from: step.column, to: end, phase: a.units, at});
            step.column = end;
        }
        if (a.kind === ARRIVE || a.kind === TILE) ends.set(key, Math.max(end, step.column));
        if (a.kind === TILE) kernel.tiles.push({...a, from: kernel.steps[a.step]?.column, column: step.column});
    }
}

/* Time as if every warp did one step at a time, all of them at once: a step is a column, and at a
 * barrier the first wait for the last. */
function addSchedule(kernel) {
    const ends = new Map();
    kernel.tiles = [];
    const clock = new Array(kernel.warps).fill(0), last = new Array(kernel.warps).fill(null);
    kernel.waits = [];
    kernel.barriers = [];
    kernel.steps.forEach((s, at) => {
        if (s.instruction) {
            s.column = clock[s.warp];
            atMbarriers(kernel, s, ends);
            clock[s.warp] = s.column + 1;
            if (s.instruction.barrier) last[s.warp] = s.key;
        }
        if (s.barrier === undefined) return;
        const members = clock.map((_, w) => w).filter(w => isOn(s.warps, w));
        const column = Math.max(...members.map(w => clock[w]));
        for (const w of members) {
            if (clock[w] < column) kernel.waits.push({warp: w, from: clock[w], to: column});
            clock[w] = column;
        }
        kernel.barriers.push({at, column, members, key: last[members[0]]});
    });
    kernel.columns = Math.max(1, ...clock);
}

/* The accesses that a view can show: {at: index of the step, access}. */
function accessesOf(kernel, kinds) {
    const all = [];
    kernel.steps.forEach((s, at) => {
        for (const access of s.accesses || [])
            if (kinds.includes(access.kind)) all.push({at, access});
    });
    return all;
}

function readKernel(raw, sources) {
    const source = Object.values(sources).join('\n'), constants = constantsOf(source);
    const instructions = new Map(raw.instructions.map(i => [i[0], readInstruction(i, sources)]));
    const threads = raw.block[0] * raw.block[1] * raw.block[2];
    const kernel = {
        name: raw.kernel,
        grid: raw.grid,
        block: raw.block,
        traced: raw.traced,
        threads,
        leftOut: raw.left_out,
        warps: Math.ceil(threads / LANES),
        instructions,
        lines: addLines(instructions),
        parameters: readParameters(raw, source),
        arrays: raw.shared.map(a => readArray(a, source, constants)),
        steps: raw.steps.map(s => readStep(s, instructions))
    };
    if (raw.dynamic[1]) {
        const name = source.match(/extern\s+__shared__[^;]*?(\w+)\s*\[\s*\]/)?.[1] || 'dynamic';
        kernel.arrays.push(readArray([name, ...raw.dynamic], source, constants));
    }
    shareWords(kernel);
    addSchedule(kernel);
    kernel.items = {lanes: accessesOf(kernel, GLOBAL), banks: accessesOf(kernel, [...SHARED.slice(0, 3), TILE])};
    kernel.findings = kernel.steps.filter(s => s.finding !== undefined);
    return kernel;
}
