/*
 * source.js: the kernel's text, with what each line cost in the whole launch beside it.
 */
'use strict';

const COSTS = [
    {name: 'instructions', of: l => l.instructions, show: l => l.instructions.toLocaleString('en')},
    {name: 'sectors', of: l => l.sectors, show: l => l.sectors.toLocaleString('en')},
    {
        name: 'sectors a request',
        of: l => l.requests ? l.sectors / l.requests : 0,
        show: l => n1(l.sectors / l.requests),
        dear: l => SECTOR * l.sectors > 1.5 * l.bytes
    },
    {
        name: 'passes a request',
        of: l => l.asked ? l.passes / l.asked : 0,
        show: l => n1(l.passes / l.asked),
        dear: l => l.passes > l.least
    },
    {name: 'barriers', of: l => l.barriers, show: l => l.barriers.toLocaleString('en'), dear: () => false},
];

/* From the kernel's first line to the brace that ends what is executed of a file. */
function extentOf(kernel, file, text) {
    const executed = [...kernel.lines.values()].filter(l => l.file === file && l.instructions).map(l => l.line);
    if (!executed.length) return null;
    let first = Math.min(...executed), last = Math.max(...executed);
    while (first > 1 && !/__(global|device)__/.test(text[first - 1]) && !/^}/.test(text[first - 2])) first--;
    while (last < text.length && !/^}/.test(text[last - 1])) last++;
    return {first, last};
}

const WORDS_OF_C = 'if|else|for|while|return|const|static|int|float|double|unsigned|size_t|void|template|auto|bool';
const WORD = new RegExp(`(/\\*[^]*?\\*/|//.*)|\\b(__\\w+__|__sync\\w+|__shfl\\w*|${WORDS_OF_C})\\b`, 'g');
const coloured = text => escaped(text).replace(WORD, (all, comment) => comment ? `<i>${all}</i>` : `<b>${all}</b>`);

function costCell(cost, line, worst, scale) {
    const value = line ? cost.of(line) : 0;
    if (!value) return '<td></td>';
    const dear = worst.has(line.key) && (!cost.dear || cost.dear(line));
    const width = Math.round(100 * value / (scale || value)), words = (dear ? '▲ ' : '') + cost.show(line);
    return `<td data-name="${cost.name}"${dear ? ' class="worst"' : ''}><span style="width:${width}%"></span><em>${words}</em></td>`;
}

/* Of each cost the most; and the line that has it. */
const mostOf = (kernel, cost) => Math.max(0, ...[...kernel.lines.values()].map(cost.of));
function worstOf(kernel, cost) {
    const most = mostOf(kernel, cost), all = [...kernel.lines.values()].filter(l => cost.of(l) > 0);
    return new Set(all.filter(l => cost.of(l) === most).slice(0, 1).map(l => l.key));
}

function sourceSentence(kernel) {
    const number = n => n.toLocaleString('en'), line = key => key.split(':').pop();
    const most = (i, does, what) => {
        const [key] = worstOf(kernel, COSTS[i]), all = mostSum(kernel, COSTS[i]);
        return key ? `line ${line(key)} ${does} most, ${number(mostOf(kernel, COSTS[i]))} of ${number(all)} ${what}` : '';
    };
    const conflict = kernel.lines.get([...worstOf(kernel, COSTS[3])][0]);
    const words = [most(0, 'executes', 'warp instructions'), most(1, 'moves', 'sectors')];
    if (conflict && conflict.passes > conflict.least) words.push(`bank conflicts are worst in line ${conflict.line}`);
    const said = words.filter(Boolean).join('; ');
    return said.charAt(0).toUpperCase() + said.slice(1) + '. Click a line to see its lanes or banks.';
}

const mostSum = (kernel, cost) => [...kernel.lines.values()].reduce((sum, l) => sum + cost.of(l), 0);

/* @param scales of each cost, so that two versions can be compared; key: the line of the cursor */
function sourceTable(kernel, sources, scales, key) {
    const shown = COSTS.filter((c, i) => scales[i] > 0), worst = shown.map(c => worstOf(kernel, c));
    let rows = '';
    for (const [file, source] of Object.entries(sources)) {
        const text = source.split('\n'), extent = extentOf(kernel, file, text);
        if (!extent) continue;
        for (let n = extent.first; n <= extent.last; n++) {
            const line = kernel.lines.get(`${file}:${n}`);
            const kind = [line ? 'costs' : '', key === `${file}:${n}` ? 'now' : ''].join(' ').trim();
            rows += `<tr data-key="${escaped(file)}:${n}" class="${kind}">` +
                shown.map((c, i) => costCell(c, line, worst[i], scales[COSTS.indexOf(c)])).join('') +
                `<th>${n}</th><td class="text"><code>${coloured(text[n - 1])}</code></td></tr>`;
        }
    }
    return `<table class="source"><thead><tr>${
        shown.map(c => `<th>${c.name}</th>`)
            .join('')}<th class="number"></th><th class="text"></th></tr></thead><tbody>${rows}</tbody></table>`;
}
