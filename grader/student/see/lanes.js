/*
 * lanes.js: where the 32 lanes of one load or store go: memory as 128-byte lines of four 32-byte
 * sectors. Sectors that are touched are moved whole; what nobody wanted of them is hatched.
 */
'use strict';

const LINE = 128, SECTOR = 32;

const stepOf = (addresses, mask) => {
    const on = [...addresses.keys()].filter(i => isOn(mask, i));
    const steps = new Set(on.slice(1).map((lane, i) => (addresses[lane] - addresses[on[i]]) / (lane - on[i])));
    return steps.size === 1 ? [...steps][0] : undefined;
};

/* What an access moves: its lines, each with the bytes that are wanted of it. */
function linesOf(access) {
    const addresses = addressesOf(access), lines = new Map(), wanted = new Set();
    addresses.forEach((a, lane) => {
        const start = Math.floor(a / LINE) * LINE;
        if (!lines.has(start)) lines.set(start, {start, lanes: [], sectors: new Set()});
        const l = lines.get(start);
        l.lanes.push({lane, offset: a - start});
        for (let b = a; b < a + access.bytes; b++) wanted.add(b), l.sectors.add(Math.floor((b - start) / SECTOR));
    });
    return {addresses, wanted: wanted.size, lines: [...lines.values()].sort((a, b) => a.start - b.start)};
}

function patternWords(access, m) {
    const step = stepOf(m.addresses, access.mask), on = countOf(access.mask);
    const least = Math.ceil(on * access.bytes / SECTOR), verb = WORDS[access.kind] + 's';
    if (on === 1) return 'One lane alone is on.';
    if (step === 0) return 'Every lane wants the same element: one sector, a broadcast.';
    if (step === access.bytes && access.units <= least)
        return 'Neighbouring lanes want neighbouring elements: coalesced.';
    if (step === access.bytes)
        return 'Neighbouring lanes want neighbouring elements, but the first does not begin a sector: one more is moved.';
    if (step === -access.bytes) return 'The lanes run backwards through neighbouring elements: coalesced all the same.';
    if (step !== undefined)
        return `Neighbouring lanes lie ${many(Math.abs(step), 'byte')} apart: ${
            Math.abs(step) >= SECTOR ? 'each needs a sector of its own' : 'what lies between is moved for nothing'}.`;
    return m.lines.length === 1 ? 'All lanes stay within one line.' :
                                  `The lanes scatter over ${many(m.lines.length, 'line')}.`;
}

function lanesSentence(access) {
    const m = linesOf(access), moved = SECTOR * access.units, on = countOf(access.mask);
    if (access.kind === 3)
        return `${many(on, 'lane')} update ${many(m.wanted / access.bytes, 'element')}: ${
            many(access.units, 'visit')} to sectors, for lanes that want the same element take turns.`;
    return `${many(on, 'lane')}, ${many(m.wanted, 'byte')} wanted, ${many(access.units, 'sector')} (${
               many(moved, 'byte')}) moved: ` +
        `${percent(m.wanted, moved)} used. ${patternWords(access, m)}`;
}

function drawLine(kernel, access, line, y, h) {
    const at = offset => LEFT + offset / 4 * CELL;
    const names = line.lanes.map(l => globalName(kernel, line.start + l.offset));
    const low = names[0], high = names[names.length - 1];
    const range = low === high ? low : low.replace(']', '…') + (high.match(/\[(-?\d+\])/)?.[1] || '');
    let body = label(LEFT - 8, y + h / 2 + 4, range, 'left');
    for (let s = 0; s < LINE / SECTOR; s++) {
        const moved = line.sectors.has(s), x = at(s * SECTOR);
        body += rect(
            x + 1, y, SECTOR / 4 * CELL - 2, h, moved ? 'sector' : 'sector off',
            moved ? 'a sector that is moved' : 'a sector that stays');
        if (moved) body += rect(x + 1, y, SECTOR / 4 * CELL - 2, h, 'wasted');
    }
    for (const {lane, offset} of line.lanes) {
        const w = access.bytes / 4 * CELL - (access.bytes < 4 ? 0.5 : 2);
        body += rect(
            at(offset) + 1, y, w, h, `used k${access.kind}`,
            `lane ${lane}: ${globalName(kernel, line.start + offset)}`);
    }
    return body;
}

function drawLanes(kernel, item) {
    const {access} = item, m = linesOf(access), top = 8, first = top + 20 + Math.min(110, 46 + 6 * m.lines.length);
    const h = m.lines.length > 12 ? 13 : 18;
    let y = first, threads = '', rows = '', before = null;
    for (const line of m.lines) {
        if (before !== null) y += h + (line.start === before + LINE || h < 18 ? 3 : 9);
        before = line.start;
        rows += drawLine(kernel, access, line, y, h);
        for (const {lane, offset} of line.lanes)
            threads +=
                thread(lane, top + 20, LEFT + (offset + access.bytes / 2) / 4 * CELL, y, `thread k${access.kind}`);
    }
    y += h;
    const scale =
        [0, 32, 64, 96, 128].map(b => label(LEFT + b / 4 * CELL - (b === 128 ? 8 : 0), y + 15, b, 'mid soft')).join('');
    const legend =
        [['used k' + access.kind, 'wanted'], ['wasted', 'moved for nothing'], ['sector off', 'not moved']]
            .map(
                ([kind, words], i) => (kind === 'wasted' ? rect(LEFT + 90 * i, y + 26, 14, 12, 'sector') : '') +
                    rect(LEFT + [0, 90, 228][i], y + 26, 14, 12, kind) +
                    label(LEFT + [0, 90, 228][i] + 20, y + 36, words, 'soft'))
            .join('');
    return svg(
        WIDTH, y + 44, lanesSentence(access),
        laneRow(top, access.mask) + threads + rows + scale + legend + label(LEFT - 8, y + 15, 'byte', 'left soft'));
}
