/*
 * banks.js: which words of which of the 32 banks the lanes of one access to shared memory want. A
 * bank gives one word a pass: the highest column says how many passes there are.
 */
'use strict';

/* Elements of 8 bytes go half a warp at a time, of 16 a quarter; two groups go as one where the trace
 * has so few passes. @return [{lanes: first to last, columns: 32 lists of {word, lanes}}] */
function groupsOf(access, lanesAtOnce) {
    const addresses = addressesOf(access), groups = [];
    for (let first = 0; first < LANES; first += lanesAtOnce) {
        const columns = Array.from({length: LANES}, () => []);
        for (let lane = first; lane < first + lanesAtOnce; lane++) {
            for (let b = 0; isOn(access.mask, lane) && b < access.bytes; b += 4) {
                const word = Math.floor((addresses[lane] + b) / 4), column = columns[word % LANES];
                const there = access.kind === 8 ? undefined : column.find(c => c.word === word);
                const first = b === 0 ? [lane] : []; /* of its words the one that a thread leads to */
                if (there)
                    there.lanes.push(lane), there.first.push(...first);
                else
                    column.push({word, lanes: [lane], first});
            }
        }
        const height = Math.max(...columns.map(c => c.length));
        if (height) groups.push({first, last: first + lanesAtOnce - 1, columns, height});
    }
    return groups;
}

function passesOf(access) {
    const narrow = access.bytes <= 4 ? LANES : LANES * 4 / access.bytes;
    const height = groups => groups.reduce((sum, g) => sum + g.height, 0);
    const groups = groupsOf(access, narrow);
    const joined = narrow < LANES && height(groups) !== access.units ? groupsOf(access, 2 * narrow) : groups;
    return height(joined) === access.units ? joined : groups;
}

function banksSentence(access) {
    const groups = passesOf(access), on = countOf(access.mask), step = stepOf(addressesOf(access), access.mask);
    const excess = access.units - groups.length, worst = groups.reduce((a, b) => b.height > a.height ? b : a);
    const bank = worst.columns.findIndex(c => c.length === worst.height);
    const wide =
        access.bytes > 4 ? ` Elements of ${access.bytes} bytes go ${LANES * 4 / access.bytes} lanes at a time.` : '';
    const used = new Set(groups.flatMap(g => g.columns.flatMap((c, i) => c.length ? [i] : []))).size;
    if (on === 1) return 'One lane alone is on: one pass.';
    if (excess > 0) {
        const why = step ? ` Neighbouring lanes lie ${many(Math.abs(step) / 4, 'word')} apart.` : '';
        return `Bank ${bank} is wanted for ${many(worst.height, 'different word')}: ${many(access.units, 'pass')}, ${
            excess} more than needed.${why}${wide}`;
    }
    if (step === 0) return `Every lane wants the same word: ${many(access.units, 'pass')}, a broadcast.`;
    return `${many(on, 'lane')} fall on ${many(used, 'bank')}, no two on different words of one: ${
        many(access.units, 'pass')}, no conflict.${wide}`;
}

const laneWords = lanes => lanes.length === 1 ? `lane ${lanes[0]}` : `lanes ${lanes.join(', ')}`;

function drawGroup(kernel, access, group, y) {
    let boxes = '', threads = '';
    for (let pass = 0; pass < group.height; pass++) {
        boxes += label(LEFT - 8, y + pass * 21 + 14, `pass ${group.pass + pass}`, pass ? 'left bad' : 'left');
        for (let bank = 0; bank < LANES; bank++) {
            const c = group.columns[bank][pass], x = LEFT + bank * CELL;
            if (!c) continue;
            boxes += rect(
                x + 1, y + pass * 21, CELL - 2, 19, `word k${access.kind}${pass ? ' late' : ''}`,
                `${laneWords(c.lanes)}: ${sharedName(kernel, 4 * c.word)}, bank ${bank}`);
            boxes += label(
                x + CELL / 2, y + pass * 21 + 13.5, c.lanes.length > 1 ? '×' + c.lanes.length : c.lanes[0], 'mid on');
            for (const lane of c.first)
                threads += thread(lane, 28, x + CELL / 2, y + pass * 21, `thread k${access.kind}`);
        }
    }
    return {boxes, threads};
}

function drawBanks(kernel, item) {
    const {access} = item, groups = passesOf(access);
    let y = 98, pass = 1, boxes = '', threads = '';
    for (const group of groups) {
        group.pass = pass;
        const d = drawGroup(kernel, access, group, y);
        boxes += d.boxes;
        threads += d.threads;
        pass += group.height;
        y += group.height * 21 + (groups.length > 1 ? 8 : 0);
    }
    let body = '';
    for (let bank = 0; bank < LANES; bank++) {
        body += rect(LEFT + bank * CELL + 1, 92, CELL - 2, y - 90, 'bank');
        body += label(LEFT + bank * CELL + CELL / 2, y + 14, bank, 'mid soft');
    }
    const legend = label(LEFT, y + 34, '×n: n lanes want that word, one pass for all of them', 'soft') +
        rect(LEFT + 330, y + 24, 14, 12, `word k${access.kind} late`) +
        label(LEFT + 350, y + 34, 'another word of a bank: another pass', 'soft');
    return svg(
        WIDTH, y + 42, banksSentence(access),
        laneRow(8, access.mask) + body + threads + boxes + label(LEFT - 8, y + 14, 'bank', 'left soft') + legend);
}
