/*
 * blocks.js: an access to shared memory of other blocks of the cluster: which lane goes to which block.
 */
'use strict';

const BLOCK = 1 << 24; /* the memory of block r of the cluster begins at (r + 1) * BLOCK */

const blockOf = address => Math.floor(address / BLOCK) - 1;
const leavesBlock = access => access.kind !== TILE && addressesOf(access).some(a => a >= BLOCK);

/* Block by block: {block, lanes, name: of what the first of them wants}. */
function visitsOf(kernel, access) {
    const visits = new Map();
    addressesOf(access).forEach((address, lane) => {
        const block = blockOf(address);
        if (!visits.has(block)) visits.set(block, {block, lanes: [], name: sharedName(kernel, address % BLOCK)});
        visits.get(block).lanes.push(lane);
    });
    return [...visits.values()].sort((a, b) => a.block - b.block);
}

/* As many blocks as this kernel has asked for. */
const clusterOf = kernel => 1 +
    Math.max(...kernel.items.banks.filter(i => leavesBlock(i.access))
                 .flatMap(i => addressesOf(i.access).filter(a => a !== undefined).map(blockOf)));

function blocksSentence(kernel, access) {
    const visits = visitsOf(kernel, access), names = new Set(visits.map(v => v.name));
    const what = names.size === 1 ? [...names][0] : 'a word';
    const verb = {6: 'read', 7: 'write', 8: 'update'}[access.kind];
    return `${many(countOf(access.mask), 'lane')} of block ${triple(kernel.traced)} ${verb} ${what} of ${
        many(visits.length, 'block')} of the cluster: shared memory that those blocks own.`;
}

function drawBlocks(kernel, item) {
    const {access} = item, visits = visitsOf(kernel, access), blocks = clusterOf(kernel), y = 104;
    const w = LANES * CELL / blocks;
    let boxes = '', threads = '';
    for (let block = 0; block < blocks; block++) {
        const v = visits.find(one => one.block === block), x = LEFT + block * w;
        boxes += rect(x + 2, y, w - 4, 54, 'bank') + label(x + w / 2, y + 70, `block ${block}`, 'mid soft');
        if (!v) continue;
        boxes += rect(x + 8, y + 14, w - 16, 26, `word k${access.kind}`, laneWords(v.lanes));
        boxes += label(x + w / 2, y + 31, v.name, 'mid on');
        for (const lane of v.lanes) threads += thread(lane, 28, x + w / 2, y + 14, `thread k${access.kind}`);
    }
    return svg(
        WIDTH, y + 82, blocksSentence(kernel, access),
        laneRow(8, access.mask) + threads + boxes + label(LEFT - 8, y + 31, 'shared', 'left soft'));
}
