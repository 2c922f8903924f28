/*
 * tile.js: where the TMA put a tile: lines of 128 bytes of shared memory, which are its 32 banks, with the
 * chunks of 16 bytes of the tile's rows. A swizzle permutes the chunks of a row.
 */
'use strict';

const CHUNK = 16, MOST_LINES = 16;

/* As the TMA does it: the line says how the places of its chunks are permuted. */
function placeOfChunk(access, i) {
    const place = access.to + i * CHUNK, mask = access.swizzle ? access.swizzle / CHUNK - 1 : 0;
    return place ^ (place >> 7 & mask) << 4;
}

/* The chunks of the first lines. [{row, chunk: of the tile, line, bank}] */
function chunksOf(access) {
    const row = access.rowBytes || LINE, all = [], start = Math.floor(access.to / LINE);
    for (let i = 0; i * CHUNK < access.bytes; i++) {
        const place = placeOfChunk(access, i), line = Math.floor(place / LINE) - start;
        const at = i * CHUNK;
        if (line < MOST_LINES)
            all.push({row: Math.floor(at / row), chunk: at % row / CHUNK, line, bank: place % LINE / 4});
    }
    return all;
}

const cornerWords = corner => corner.length === 2 ? `row ${corner[1]}, column ${corner[0]}` : triple(corner);

function tileSentence(kernel, access) {
    const name = sharedName(kernel, access.to), bytes = many(access.bytes, 'byte');
    if (!access.corner.length) return `A bulk copy has come to ${name}: ${bytes}, in one piece.`;
    const rows = access.bytes / access.rowBytes;
    const column = chunksOf(access).filter(c => c.chunk === 0 && c.row < 8), lanes = many(column.length, 'lane');
    const banks = 4 * new Set(column.map(c => c.bank)).size, passes = 4 * column.length / banks;
    return `The TMA has brought the box whose corner is ${cornerWords(access.corner)} to ${name}: ${
               many(rows, 'row')} of ${many(access.rowBytes, 'byte')}. ` +
        `Chunk 0 of the first ${many(column.length, 'row')} (framed) falls on ${banks} banks: ${lanes} read it in ${
               many(passes, 'pass')}.`;
}

function drawTile(kernel, item) {
    const {access} = item, chunks = chunksOf(access), h = 22, top = 10;
    const first = access.corner[1] || 0, lines = 1 + Math.max(...chunks.map(c => c.line));
    let body = '', frames = '';
    for (const c of chunks) {
        const x = LEFT + c.bank * CELL, y = top + c.line * h, words = `row ${first + c.row}, chunk ${c.chunk}`;
        body += rect(x + 1, y, 4 * CELL - 2, h - 2, `s${c.chunk % 8}`, `${words}: banks ${c.bank} to ${c.bank + 3}`);
        body += label(x + 2 * CELL, y + 14, access.rowBytes === LINE ? `chunk ${c.chunk}` : words, 'mid on');
        if (c.chunk === 0) frames += rect(x + 1, y, 4 * CELL - 2, h - 2, 'cursor');
        if (access.rowBytes === LINE && c.chunk === 0)
            body += label(LEFT - 8, y + 14, `row ${first + c.row}`, 'left');
    }
    const bottom = top + lines * h;
    for (let bank = 0; bank < LANES; bank++)
        body += label(LEFT + bank * CELL + CELL / 2, bottom + 12, bank, 'mid soft');
    const rest = access.bytes / LINE - lines;
    return svg(
        WIDTH, bottom + 40, tileSentence(kernel, access),
        body + frames + label(LEFT - 8, bottom + 12, 'bank', 'left soft') +
            label(LEFT, bottom + 32, rest > 0 ? `${many(rest, 'line')} more, in the same pattern` : '', 'soft'));
}
