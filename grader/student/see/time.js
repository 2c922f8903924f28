/*
 * time.js: the warps of the block over time, as if each did one step at a time and all of them at
 * once. A bar is as thick as lanes are on; its colour is the line of the source.
 */
'use strict';

const TIME_LEFT = 62, TIME_TOP = 26, COLOURS = 8;
const rowHeightOf = kernel => Math.max(13, Math.min(30, 480 / kernel.warps));
const tileRows = kernel => [...new Set(kernel.tiles.map(t => t.to))].sort((a, b) => a - b);

/* The lines with most steps get colours of their own; in a picture without source, what lines do.
 * @return {of: line to its name, colours: names to numbers} */
function namesOf(kernel, withSource) {
    const steps = new Map(), names = new Map();
    for (const key of kernel.lines.keys()) names.set(key, withSource ? key : roleOf(kernel, key));
    const of = key => names.get(key), present = [...names.values()];
    if (!withSource)
        return {of, colours: new Map(ROLES.map((role, i) => [role, i]).filter(([role]) => present.includes(role)))};
    for (const s of kernel.steps)
        if (s.column !== undefined) steps.set(s.key, (steps.get(s.key) || 0) + 1);
    const first = [...steps].sort((a, b) => b[1] - a[1]).slice(0, COLOURS - 1).map(([name]) => name);
    const line = name => Number(name.split(':').pop());
    return {of, colours: new Map(first.sort((a, b) => line(a) - line(b)).map((name, i) => [name, i]))};
}

/* Steps of a warp that follow each other in the same line, with as many lanes. */
function barsOf(kernel, scale, names) {
    const bars = [], open = new Array(kernel.warps);
    kernel.steps.forEach(s => {
        if (s.column === undefined) return;
        const b = open[s.warp], lanes = countOf(s.mask), name = names.of(s.key);
        const goesOn =
            b && b.to === s.column && b.lanes === lanes && (b.name === name || (s.column - b.from) * scale < 0.5);
        if (goesOn)
            b.to++;
        else
            bars.push(open[s.warp] = {warp: s.warp, from: s.column, to: s.column + 1, lanes, name});
    });
    return bars;
}

function timeSentence(kernel) {
    const steps = kernel.steps.filter(s => s.column !== undefined);
    const lanes = steps.reduce((sum, s) => sum + countOf(s.mask), 0) / (steps.length || 1);
    const wait = Math.max(0, ...kernel.waits.map(w => w.to - w.from));
    const barriers = kernel.barriers.length ? many(kernel.barriers.length, 'barrier') : 'no barrier';
    const on = lanes > 31.95 ?
        `${lanes < 32 ? 'nearly ' : ''}all lanes are on` :
        `of 32 lanes ${n1(lanes)} are on, on average (thin bars: the others are off in a branch, or gone)`;
    const waits = wait ? `; at a barrier the first waits up to ${many(wait, 'step')} for the last` : '';
    const tiles = kernel.tiles.length ? `; the TMA brings ${many(kernel.tiles.length, 'tile')}` : '';
    return `${many(kernel.warps, 'warp')}, ${many(kernel.columns, 'step')} to the end of the longest, ${barriers}; ` +
        `${on}${waits}${tiles}.`;
}

/* Below the warps a row for each place that the TMA fills: from the step that asks to the first that waits. */
function drawTiles(kernel, at, rowHeight, top, view) {
    const places = tileRows(kernel);
    let body = places.map((to, i) => label(TIME_LEFT - 8, top + (i + 0.5) * rowHeight + 4, 'TMA', 'left tiny')).join('');
    for (const t of kernel.tiles) {
        const from = Math.max(t.from ?? t.column - 1, view.from), to = Math.min(t.column, view.to);
        if (from >= to) continue;
        const y = top + places.indexOf(t.to) * rowHeight, name = sharedName(kernel, t.to);
        const where = t.corner.length ? `${cornerWords(t.corner)} to ${name}` : name;
        body += rect(at(from), y + 2, at(to) - at(from), rowHeight - 5, 'sector', `${where}, ${many(t.bytes, 'byte')}`);
        if (at(to) - at(from) > 6.2 * where.length) body += label(at(from) + 4, y + rowHeight / 2 + 3.5, where, 'tiny');
    }
    return body;
}

/* For which phase a warp waits, where there is room for the words. */
function drawPhases(kernel, at, rowHeight, top, view) {
    let body = '';
    for (const w of kernel.waits) {
        if (w.at === undefined) continue;
        const from = Math.max(w.from, view.from), to = Math.min(w.to, view.to), x = at(from), y = top + w.warp * rowHeight;
        if (from >= to) continue;
        const words = `phase ${w.phase} of ${sharedName(kernel, w.at)}`;
        body += rect(x, y, at(to) - x, rowHeight, 'pick', `warp ${w.warp} waits for ${words}`);
        const fits = [words, `phase ${w.phase}`].find(text => at(to) - x > 6.2 * text.length);
        if (fits) body += label(x + 4, y + rowHeight / 2 - 2, fits, 'soft tiny');
    }
    return body;
}

function drawBarriers(kernel, at, rowHeight, top, withSource) {
    let last = -100, body = '';
    for (const b of kernel.barriers) {
        const x = at(b.column), low = Math.min(...b.members), high = Math.max(...b.members);
        if (x < TIME_LEFT - 1 || x > WIDTH) continue;
        body += rect(
            x - 0.75, top + low * rowHeight, 1.5, (high - low + 1) * rowHeight, 'barrier', `barrier, ${b.key || ''}`);
        if (x - last > 44)
            body += label(x, top - 6, withSource ? `line ${(b.key || '').split(':').pop()}` : 'barrier', 'mid tiny'),
                last = x;
    }
    return body;
}

function legend(colours, sources, y) {
    let body = '';
    [...colours].forEach(([key, i], n) => {
        const [file, line] = key.split(':'), text = ((sources[file] || '').split('\n')[line - 1] || key).trim();
        const words = text.length > 88 ? text.slice(0, 86) + '…' : text;
        body += rect(TIME_LEFT, y + n * 19, 14, 12, `s${i}`) +
            label(TIME_LEFT + 22, y + n * 19 + 10.5, line || words, line ? 'strong' : '') +
            (line ? label(TIME_LEFT + 58, y + n * 19 + 10.5, words, 'code') : '');
    });
    const x = WIDTH - 196, low = y + colours.size * 19;
    return body + rect(TIME_LEFT, low, 14, 12, 's7') + label(TIME_LEFT + 22, low + 10.5, 'all else', 'soft') +
        path(`M${TIME_LEFT + 110} ${low + 6}h40`, 'wait') +
        label(TIME_LEFT + 156, low + 10.5, 'waits at a barrier', 'soft') + rect(x - 30, low + 4, 24, 3, 's7') +
        label(x, low + 10.5, 'thin: few lanes are on', 'soft');
}

/* @param sources null: a picture without source. view {from, to}: columns that are shown */
function drawTime(kernel, sources, view, cursor) {
    const rowHeight = rowHeightOf(kernel), top = TIME_TOP, names = namesOf(kernel, sources),
          {colours} = names;
    const scale = (WIDTH - TIME_LEFT - 8) / (view.to - view.from),
          at = column => TIME_LEFT + (column - view.from) * scale;
    const paths = {};
    let numbers = '', waits = '', rows = '';
    for (const b of barsOf(kernel, scale, names)) {
        const from = Math.max(b.from, view.from), to = Math.min(b.to, view.to);
        if (from >= to) continue;
        const h = Math.max(2, (rowHeight - 3) * b.lanes / LANES), y = top + b.warp * rowHeight + (rowHeight - h) / 2;
        const kind = colours.has(b.name) ? `s${colours.get(b.name)}` : 's7',
              w = Math.max(0.4, (to - from) * scale - (scale > 3 ? 0.6 : 0));
        paths[kind] = (paths[kind] || '') + `M${n1(at(from))} ${n1(y)}h${n1(w)}v${n1(h)}h${n1(-w)}z`;
        if (sources && w > 22 && h > 10)
            numbers += label(at(from) + w / 2, y + h / 2 + 3.5, b.name.split(':').pop(), 'mid on tiny');
    }
    for (const w of kernel.waits) {
        const from = Math.max(w.from, view.from), to = Math.min(w.to, view.to), y = top + (w.warp + 0.5) * rowHeight;
        if (from < to) waits += `M${n1(at(from))} ${n1(y)}H${n1(at(to))}`;
    }
    for (let w = 0; w < kernel.warps; w++)
        rows += label(TIME_LEFT - 8, top + (w + 0.5) * rowHeight + 4, `warp ${w}`, 'left tiny');
    const under = top + kernel.warps * rowHeight, bottom = under + tileRows(kernel).length * rowHeight;
    const mark = cursor && cursor.column !== undefined && cursor.column >= view.from && cursor.column < view.to ?
        rect(at(cursor.column) - 1, top + cursor.warp * rowHeight, Math.max(3, scale) + 2, rowHeight, 'cursor') :
        '';
    return svg(
        WIDTH, bottom + 45 + colours.size * 19, timeSentence(kernel),
        rows + path(waits, 'wait') + Object.entries(paths).map(([kind, d]) => path(d, kind)).join('') + numbers +
            drawBarriers(kernel, at, rowHeight, top, sources) + drawPhases(kernel, at, rowHeight, top, view) +
            drawTiles(kernel, at, rowHeight, under, view) + mark + legend(colours, sources || {}, bottom + 20));
}
