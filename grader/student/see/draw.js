/*
 * draw.js: SVG as text, and words that several views use.
 */
'use strict';

const LEFT = 92, CELL = 21, WIDTH = LEFT + LANES * CELL + 8; /* of views with a column for each lane */

const escaped = text =>
    String(text).replace(/[&<>"]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c]);
const n1 = x => String(Math.round(x * 10) / 10);
const titled = title => title ? `<title>${escaped(title)}</title>` : '';
const rect = (x, y, w, h, kind, title) =>
    `<rect class="${kind}" x="${n1(x)}" y="${n1(y)}" width="${n1(w)}" height="${n1(h)}">${titled(title)}</rect>`;
const label = (x, y, words, kind = '') => `<text class="${kind}" x="${n1(x)}" y="${n1(y)}">${escaped(words)}</text>`;
const path = (d, kind, title) => `<path class="${kind}" d="${d}">${titled(title)}</path>`;

const HATCH = '<defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" ' +
    'patternTransform="rotate(45)"><path class="hatch" d="M0 0V5"/></pattern></defs>';

function svg(width, height, words, body) {
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}" ` +
        `role="img" aria-label="${escaped(words)}">${HATCH}${body}</svg>`;
}

const many = (n, one) => `${n.toLocaleString('en')} ${n === 1 ? one : /(s|x|ss)$/.test(one) ? one + 'es' : one + 's'}`;
const percent = (part, whole) => whole ? `${Math.round(100 * part / whole)} %` : '–';
const triple = n => `(${n.join(',')})`;
const shape = n => n.filter((size, i) => i === 0 || n.slice(i).some(s => s > 1)).join(' × ');

/* 32 boxes, the lanes of a warp in order; those that are off are dashed. */
function laneRow(y, mask) {
    let body = label(LEFT - 8, y + 14, 'lanes', 'left');
    for (let i = 0; i < LANES; i++) {
        const on = isOn(mask, i);
        body +=
            rect(LEFT + i * CELL + 1, y, CELL - 2, 20, on ? 'lane' : 'lane off', on ? `lane ${i}` : `lane ${i} is off`);
        body += label(LEFT + i * CELL + CELL / 2, y + 14, i, on ? 'mid' : 'mid soft');
    }
    return body;
}

/* All accesses of a warp in their order, each as high as it is dear: the one that is shown is framed. */
function drawStrip(kernel, items, shown) {
    const warp = kernel.steps[shown.at].warp, own = items.filter(i => kernel.steps[i.at].warp === warp);
    const w = Math.min(16, (WIDTH - LEFT - 8) / own.length), most = Math.max(...own.map(i => i.access.units));
    let body = label(LEFT - 8, 40, `warp ${warp}`, 'left soft');
    own.forEach((item, i) => {
        const h = Math.max(2, 36 * item.access.units / most), step = kernel.steps[item.at];
        body += `<g data-at="${item.at}">` + rect(LEFT + i * w, 4, w, 38, item === shown ? 'cursor pick' : 'pick') +
            rect(LEFT + i * w + 0.5, 42 - h, Math.max(0.5, w - 1), h, `used k${item.access.kind % 5 || 1}`,
                 `${WORDS[item.access.kind]} in line ${step.key.split(':').pop()}: ${item.access.units}`) +
            '</g>';
    });
    const unit = GLOBAL.includes(shown.access.kind) ? 'sectors' : 'passes';
    return `<p class="where">All accesses of warp ${warp} in order, as high as their ${unit}: at most ${most}. Click one.</p>` +
        svg(WIDTH, 46, 'the accesses of this warp', body);
}

function thread(lane, y0, x1, y1, kind) {
    const x0 = LEFT + lane * CELL + CELL / 2, bend = Math.min(48, (y1 - y0) / 2);
    return path(`M${n1(x0)} ${n1(y0)}C${n1(x0)} ${n1(y0 + bend)} ${n1(x1)} ${n1(y1 - bend)} ${n1(x1)} ${n1(y1)}`, kind);
}
