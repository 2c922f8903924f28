/*
 * page.js: the page: what is looked at, the keys, the reference beside it; and single pictures.
 *
 *   #lanes, #banks, #shared, #time     the view to begin with; without one, what failed
 *   #picture=VIEW;line=N;...           nothing but one picture, as text: tools/pictures.sh
 */
'use strict';

const began = performance.now();
const data = JSON.parse(document.getElementById('data').textContent);
const VIEWS = ['lanes', 'banks', 'shared', 'time'];
const look = {
    view: 'lanes',
    beside: false,
    help: false,
    bare: false
} /* bare: without source */;

/* ---- panels: the submission's kernel, and maybe another beside it -------------------------------- */

function makePanel(version) {
    const kernels = version.kernels.map(raw => readKernel(raw, version.sources));
    return {...version, kernels, kernel: kernels[0], step: 0, phase: 0, zoom: 1};
}

const panels = [data.mine, data.beside].filter(v => v && v.kernels.length).map(makePanel);
const mine = panels[0];
const shownPanels = () => look.beside ? panels : [mine];

const unitsPerLeast = a => a.units / (GLOBAL.includes(a.kind) ? Math.max(1, countOf(a.mask) * a.bytes / SECTOR) : 1);

/* The access that costs most for what it brings; of equal ones the first. */
function worstItem(items, wanted) {
    let best = -1;
    items.forEach((item, i) => {
        if (!wanted(item)) return;
        if (best < 0 || unitsPerLeast(item.access) > unitsPerLeast(items[best].access) + 1e-9) best = i;
    });
    return best;
}

function startAt(panel, kernel, warp) {
    panel.kernel = kernel;
    const items = [look.view, 'lanes', 'banks'].map(view => kernel.items[view]).find(all => all?.length) || [];
    const ofWarp = item => kernel.steps[item.at].warp === warp;
    const i = items.some(ofWarp) ? worstItem(items, ofWarp) : worstItem(items, () => true);
    panel.step = i >= 0 ? items[i].at : Math.max(0, kernel.steps.findIndex(s => s.warp === warp));
    panel.phase = phaseAt(phasesOf(kernel), panel.step);
}

/* Where a count that failed can be seen: passes of shared memory, else what is moved. */
const failedView = () => data.failed.some(words => /bank|shared-memory/.test(words)) ? 'banks' : 'lanes';

/* ---- the access of the cursor -------------------------------------------------------------------- */

function currentItem(panel) {
    const items = panel.kernel.items[look.view] || [], here = panel.kernel.steps[panel.step];
    return items.find(i => i.at === panel.step) ||
        items.find(i => i.at > panel.step && panel.kernel.steps[i.at].warp === here.warp) ||
        items.find(i => panel.kernel.steps[i.at].warp === here.warp) || items[0];
}

/* A view that cannot show the step shows what it can of the same line, or what costs most of the warp. */
function enterView(panel) {
    const k = panel.kernel, items = k.items[look.view], here = k.steps[panel.step];
    if (look.view === 'shared') panel.phase = phaseAt(phasesOf(k), panel.step);
    if (!items || !items.length || items.some(i => i.at === panel.step)) return;
    const own = i => k.steps[i.at].warp === here.warp;
    const found =
        [worstItem(items, i => own(i) && k.steps[i.at].key === here.key), worstItem(items, own), 0].find(i => i >= 0);
    panel.step = items[found].at;
}

function showLine(panel, key) {
    const has = view => worstItem(panel.kernel.items[view], i => panel.kernel.steps[i.at].key === key);
    const order = look.view === 'banks' ? ['banks', 'lanes'] : ['lanes', 'banks'];
    const view = order.find(v => has(v) >= 0), steps = panel.kernel.steps;
    if (view)
        panel.step = panel.kernel.items[view][has(view)].at;
    else
        panel.step = Math.max(0, steps.findIndex(s => s.key === key));
    if (view && (look.view === 'lanes' || look.view === 'banks')) look.view = view;
    if (look.view === 'shared') panel.phase = phaseAt(phasesOf(panel.kernel), panel.step);
}

/* Along the steps that the view shows, of the same warp. */
function move(panel, by) {
    const k = panel.kernel, warp = k.steps[panel.step].warp, phases = phasesOf(k);
    if (look.view === 'shared') {
        panel.phase = Math.max(0, Math.min(phases.length - 1, panel.phase + by));
        return;
    }
    const all = look.view === 'time' ? k.steps.map((s, at) => ({at})).filter(i => k.steps[i.at].column !== undefined) :
                                       k.items[look.view];
    const own = all.filter(i => k.steps[i.at].warp === warp),
          item = look.view === 'time' ? {at: panel.step} : currentItem(panel);
    const next = item && own[own.findIndex(i => i.at === item.at) + by];
    if (next) panel.step = next.at;
}

/* The same access of another warp. */
function moveWarp(panel, by) {
    const k = panel.kernel, item = look.view === 'time' || look.view === 'shared' ? null : currentItem(panel);
    const at = item ? item.at : panel.step, here = k.steps[at], warp = here.warp + by;
    const alike = w =>
        k.steps.map((s, i) => i)
            .filter(
                i => k.steps[i].warp === w && k.steps[i].instruction && k.steps[i].instruction === here.instruction);
    const nth = alike(here.warp).indexOf(at), there = alike(warp);
    if (there.length) panel.step = there[Math.min(nth, there.length - 1)];
}

/* ---- one panel ----------------------------------------------------------------------------------- */

const timeColumns = () => Math.max(...shownPanels().map(p => p.kernel.columns));

function timeWindow(panel) {
    const all = timeColumns(), wide = Math.max(8, Math.ceil(all / panel.zoom));
    const middle = panel.kernel.steps[panel.step].column || 0;
    const from = panel.zoom === 1 ? 0 : Math.max(0, Math.min(all - wide, middle - Math.floor(wide / 2)));
    return {from, to: from + wide};
}

function viewOf(panel) {
    const k = panel.kernel;
    if (look.view === 'shared') {
        const none = !k.arrays.length;
        return {words: sharedSentence(k, panel.phase), picture: none ? '' : drawShared(k, panel.phase)};
    }
    if (look.view === 'time')
        return {
            words: timeSentence(k),
            picture: look.bare ? drawTime(k, null, timeWindow(panel)) :
                                 drawTime(k, panel.sources, timeWindow(panel), k.steps[panel.step])
        };
    const item = currentItem(panel);
    if (!item)
        return {
            words: look.view === 'lanes' ? 'This kernel does not touch global memory.' :
                                           'This kernel does not touch shared memory.',
            picture: ''
        };
    if (look.view === 'lanes') return {words: lanesSentence(item.access), picture: drawLanes(k, item), item};
    if (item.access.kind === TILE) return {words: tileSentence(k, item.access), picture: drawTile(k, item), item};
    if (leavesBlock(item.access)) return {words: blocksSentence(k, item.access), picture: drawBlocks(k, item), item};
    return {words: banksSentence(item.access), picture: drawBanks(k, item), item};
}

function whereWords(panel, item) {
    const k = panel.kernel, step = k.steps[item ? item.at : panel.step];
    if (look.view === 'shared') {
        const phases = phasesOf(k);
        return `<label>phase ${panel.phase + 1} of ${phases.length} <input type="range" min="0"
            max="${phases.length - 1}" value="${panel.phase}" aria-label="from barrier to barrier"></label>`;
    }
    if (!step || step.warp === undefined || !step.instruction) return '';
    const all = look.view === 'time' ? k.steps.filter(s => s.instruction) : k.items[look.view].map(i => k.steps[i.at]);
    const own = all.filter(s => s.warp === step.warp);
    const what = {time: 'step', lanes: 'access to global memory', banks: 'access to shared memory'}[look.view];
    return `warp ${step.warp} of ${k.warps}, ${what} ${own.indexOf(step) + 1} of ${own.length}, ` +
        `line ${step.key.split(':').pop()} <code>${escaped(step.instruction.opcode)}</code>`;
}

/* One for each line; a race between warps says more than one within a warp. */
function distinctFindings(kernel) {
    const seen = new Map(), weight = f => f.kind === RACES[0] ? 0 : 1;
    for (const f of [...kernel.findings].sort((a, b) => weight(a) - weight(b))) {
        const key = `${RACES.includes(f.kind)}:${keyOf(f.place)}`;
        if (!seen.has(key)) seen.set(key, f);
    }
    return [...seen.values()].sort((a, b) => a.place.line - b.place.line);
}

/* To where it happened. */
function showFinding(panel, at) {
    const k = panel.kernel, shared = RACES.includes(k.steps[at].kind) && k.arrays.length;
    while (at > 0 && !k.steps[at].instruction) at--;
    panel.step = at;
    panel.phase = phaseAt(phasesOf(k), at);
    if (shared) look.view = 'shared';
}

function notes(panel) {
    const k = panel.kernel, all = [];
    const kept = k.steps.length.toLocaleString('en');
    if (k.leftOut) all.push(`Left out: ${many(k.leftOut, 'step')} of this block, after the first ${kept}.`);
    const found = distinctFindings(k).map(f => {
        const at = k.steps.indexOf(f);
        return `<p class="note" data-finding="${at}"><b>Line ${f.place.line}</b> ${escaped(f.finding)}</p>`;
    });
    return all.map(words => `<p class="note">${escaped(words)}</p>`).concat(found).join('');
}

function chooser(panel) {
    if (panel.kernels.length < 2) return `<b>${escaped(panel.kernel.name)}</b>`;
    const option = (k, i) =>
        `<option value="${i}"${k === panel.kernel ? ' selected' : ''}>${escaped(k.name)}</option>`;
    return `<select aria-label="kernel">${panel.kernels.map(option).join('')}</select>`;
}

function drawPanel(panel, element) {
    const k = panel.kernel, {words, picture, item} = viewOf(panel), key = k.steps[item ? item.at : panel.step]?.key;
    const scales = COSTS.map(c => Math.max(...shownPanels().map(p => mostOf(p.kernel, c))));
    const strip = item ? drawStrip(k, k.items[look.view], item) : '';
    element.innerHTML = `
        <h2>${escaped(panel.title)}</h2>
        <p class="kernel">${chooser(panel)} block ${triple(k.traced)} of ${shape(k.grid)}, ${shape(k.block)} threads</p>
        <div class="halves"><div class="view">
            <p class="sentence">${escaped(words)}</p><p class="where">${whereWords(panel, item)}</p>
            <div class="picture">${picture}</div>${strip}<p class="told"></p>${notes(panel)}
        </div><div class="text">
            <p class="hint">${escaped(sourceSentence(k))}</p>
            <div class="scroll">${sourceTable(k, panel.sources, scales, key)}</div>
        </div></div>`;
    listen(panel, element);
}

/* ---- mouse --------------------------------------------------------------------------------------- */

/* From a place on the screen to one in the drawing. */
function pointIn(picture, event) {
    const box = picture.getBoundingClientRect(), size = picture.viewBox.baseVal;
    return {
        x: (event.clientX - box.left) * size.width / box.width,
        y: (event.clientY - box.top) * size.height / box.height
    };
}

function clickTime(panel, picture, event) {
    const {x, y} = pointIn(picture, event), k = panel.kernel, w = timeWindow(panel);
    const warp = Math.floor((y - TIME_TOP) / rowHeightOf(k));
    const column = w.from + Math.floor((x - TIME_LEFT) / (WIDTH - TIME_LEFT - 8) * (w.to - w.from));
    const at = k.steps.findIndex(s => s.warp === warp && s.column === column);
    if (at >= 0) panel.step = at;
    redraw();
}

/* What is told of the cell under the mouse. */
function hoverShared(panel, picture, event) {
    const group = event.target.closest('[data-array]'), {x, y} = pointIn(picture, event);
    if (!group) return;
    const {array, x: x0, y: y0, size} = group.dataset;
    const states = stateAfter(panel.kernel, phasesOf(panel.kernel), panel.phase);
    const s = states.find(one => one.array.name === array);
    const c = Math.floor((y - y0) / size) * s.array.columns + Math.floor((x - x0) / size);
    if (c >= 0 && c < s.array.cells) picture.closest('.view').querySelector('.told').textContent = cellWords(s, c);
}

function listen(panel, element) {
    const picture = element.querySelector('.picture svg');
    element.querySelectorAll('tr[data-key]')
        .forEach(row => row.onclick = () => (showLine(panel, row.dataset.key), redraw()));
    element.querySelectorAll('select').forEach(
        s => s.onchange = () => (startAt(panel, panel.kernels[s.value], 0), redraw()));
    element.querySelectorAll('input').forEach(s => s.oninput = () => {
        panel.phase = Number(s.value);
        redraw();
        document.querySelector('input[type=range]')?.focus();
    });
    element.querySelectorAll('[data-finding]')
        .forEach(note => note.onclick = () => (showFinding(panel, Number(note.dataset.finding)), redraw()));
    element.querySelectorAll('[data-at]')
        .forEach(bar => bar.onclick = () => (panel.step = Number(bar.dataset.at), redraw()));
    if (picture && look.view === 'time') picture.onclick = event => clickTime(panel, picture, event);
    if (picture && look.view === 'shared') picture.onmousemove = event => hoverShared(panel, picture, event);
}

/* ---- the page ------------------------------------------------------------------------------------ */

const TABS =
    [['lanes', 'L', 'Lanes'], ['banks', 'B', 'Banks'], ['shared', 'S', 'Shared memory'], ['time', 'T', 'Time']];

function drawTabs() {
    const tab = ([view, key, name]) => `<button data-view="${view}" aria-pressed="${look.view === view}">${name} <kbd>${
        key.toLowerCase()}</kbd></button>`;
    const beside = panels.length > 1 ?
        `<button data-view="beside" aria-pressed="${look.beside}">Beside <kbd>r</kbd></button>` :
        '';
    document.getElementById('tabs').innerHTML = TABS.map(tab).join('') + beside +
        `<button data-view="help" aria-pressed="${look.help}">Help <kbd>?</kbd></button>`;
    document.querySelectorAll('#tabs button').forEach(b => b.onclick = () => choose(b.dataset.view));
}

function choose(what) {
    if (what === 'beside')
        look.beside = !look.beside && panels.length > 1;
    else if (what === 'help')
        look.help = !look.help;
    else {
        look.view = what;
        panels.forEach(enterView);
    }
    redraw();
}

function redraw() {
    drawTabs();
    document.getElementById('help').hidden = !look.help;
    const main = document.getElementById('panels'), scrolled = main.querySelector('.scroll')?.scrollTop || 0;
    main.className = look.beside ? 'two' : 'one';
    main.innerHTML = shownPanels().map(() => '<section></section>').join('');
    shownPanels().forEach((panel, i) => drawPanel(panel, main.children[i]));
    const scroll = main.querySelector('.scroll'), now = main.querySelector('tr.now');
    if (scroll) scroll.scrollTop = scrolled;
    if (now && scroll &&
        (now.offsetTop < scroll.scrollTop || now.offsetTop > scroll.scrollTop + scroll.clientHeight - 30))
        scroll.scrollTop = now.offsetTop - 80;
}

const KEYS = {
    l: () => choose('lanes'),
    b: () => choose('banks'),
    s: () => choose('shared'),
    t: () => choose('time'),
    r: () => choose('beside'),
    '?': () => choose('help'),
    ArrowLeft: () => shownPanels().forEach(p => move(p, -1)),
    ArrowRight: () => shownPanels().forEach(p => move(p, 1)),
    ArrowUp: () => shownPanels().forEach(p => moveWarp(p, -1)),
    ArrowDown: () => shownPanels().forEach(p => moveWarp(p, 1)),
    '+': () => shownPanels().forEach(p => p.zoom = Math.min(1024, p.zoom * 2)),
    '-': () => shownPanels().forEach(p => p.zoom = Math.max(1, p.zoom / 2)),
};

function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key] || event.target.tagName === 'SELECT') return;
    if (event.target.tagName === 'INPUT' && event.key.startsWith('Arrow')) return;
    KEYS[event.key]();
    redraw();
    event.preventDefault();
}

/* ---- a single picture ---------------------------------------------------------------------------- */

/* nth=N: the access of that number of the warp, the first is 1; phase=N likewise; title=T; beside: both
 * versions, one below the other, the second with nth2, title2. */
function pictureOf(panel, wanted, nth) {
    const k = panel.kernel, own = (k.items[wanted.picture] || []).filter(i => k.steps[i.at].warp === data.warp);
    if (own[nth - 1]) panel.step = own[nth - 1].at;
    if (wanted.phase) panel.phase = Math.min(wanted.phase, phasesOf(k).length) - 1;
    return viewOf(panel);
}

function standalone(wanted) {
    const shown = 'beside' in wanted ? panels : [mine];
    look.beside = shown.length > 1;
    look.bare = true;
    let y = 0, body = '';
    const said = [];
    shown.forEach((panel, i) => {
        const v = pictureOf(panel, wanted, wanted[i ? 'nth2' : 'nth']),
              [, height] = v.picture.match(/viewBox="0 0 \d+ (\d+)"/);
        const inside = v.picture.replace(/^<svg[^>]*>/, '').replace('</svg>', '').replace(HATCH, '');
        const words = v.words.replace(/ \(line \d+\)/g, ''), lines = wrap(words, 104);
        body += label(8, y + 20, wanted[i ? 'title2' : 'title'] || panel.title, 'strong');
        lines.forEach((line, n) => body += label(8, y + 40 + 17 * n, line));
        body += `<g transform="translate(0 ${y + 52 + 17 * (lines.length - 1)})">${inside}</g>`;
        y += Number(height) + 70 + 17 * (lines.length - 1);
        said.push(words);
    });
    const style = document.getElementById('picture-style').textContent;
    return svg(WIDTH, y, said.join(' '), `<style>${style}</style>` + rect(0, 0, WIDTH, y, 'paper') + body);
}

function wrap(words, most) {
    const lines = [''];
    for (const word of words.split(' ')) {
        if (lines[lines.length - 1].length + word.length > most) lines.push('');
        lines[lines.length - 1] += (lines[lines.length - 1] ? ' ' : '') + word;
    }
    return lines;
}

function start() {
    const hash = decodeURIComponent(location.hash.slice(1));
    const wanted = Object.fromEntries(hash.split(';').map(word => word.split('=')));
    document.title = document.getElementById('title').textContent = `${data.id} · ${data.name}`;
    document.getElementById('case').textContent = `case ${data.case}: ${data.verdict}`;
    if (!mine) {
        document.getElementById('panels').textContent = 'No kernel ran in this case.';
        return;
    }
    const view = wanted.picture || hash.split(';')[0];
    look.view = VIEWS.includes(view) ? view : failedView();
    panels.forEach(panel => startAt(panel, panel.kernels[0], data.warp));
    if (wanted.picture) {
        document.body.innerHTML = '<pre id="picture"></pre>';
        document.getElementById('picture').textContent = standalone(wanted);
        return;
    }
    const race = mine.kernel.steps.findIndex(s => RACES.includes(s.kind));
    if (race >= 0) showFinding(mine, race);
    if (VIEWS.includes(view)) look.view = view;
    look.beside = 'beside' in wanted && panels.length > 1;
    document.addEventListener('keydown', onKey);
    redraw();
}

start();
document.documentElement.dataset.opened = Math.round(performance.now() - began); /* milliseconds */
