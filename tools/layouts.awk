# layouts.awk: draw how the data of an exercise lies, as SVG, light and dark. One function a picture;
# tools/pictures.sh writes them.
#
#   awk -v picture=212_strides -f tools/layouts.awk
#
# A cell has a colour, c0 to c7, or none. Cells of one colour belong together.

function text(x, y, words, class) {
    body = body sprintf("<text x=\"%g\" y=\"%g\" class=\"%s\">%s</text>", x, y, class, words)
}

function rect(x, y, wide, high, class) {
    body = body sprintf("<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" class=\"%s\"/>", x, y, wide, high, class)
}

function line(x1, y1, x2, y2, class) {
    body = body sprintf("<path d=\"M%g %gL%g %g\" class=\"%s\"/>", x1, y1, x2, y2, class)
}

function cell(x, y, wide, high, class, words) {
    rect(x, y, wide, high, "cell " class)
    if (words != "") text(x + wide / 2, y + high / 2 + 4, words, "mid")
}

function finish(wide, high, says) {
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " wide " " high "\" role=\"img\" aria-label=\"" says "\"><style>"
    print ":root { --ink: #1b1e23; --soft: #666c75; --paper: #ffffff; --hue: 60% }"
    print "@media (prefers-color-scheme: dark) { :root { --ink: #e7e9ec; --soft: #9aa1ab; --paper: #15171b } }"
    print "text { font: 12px system-ui, sans-serif; fill: var(--ink) } .mid { text-anchor: middle } .end { text-anchor: end }"
    print ".soft { fill: var(--soft) } .strong { font-weight: 650 } .paper { fill: var(--paper) }"
    print ".cell { fill: none; stroke: var(--soft); stroke-width: .8 } .ring { fill: none; stroke: var(--ink); stroke-width: 2.2 }"
    print ".dash { fill: none; stroke: var(--soft); stroke-dasharray: 3 3 } .way { fill: none; stroke: var(--soft); stroke-width: 1.2 }"
    for (i = 0; i < 8; i++) printf ".c%d { fill: %s; fill-opacity: .42 } ", i, hue[i + 1]
    print "\n</style>"
    printf "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n%s\n</svg>\n", wide, high, body
}

# b, 3 x 4, in memory, as itself and as its transpose.
function strides(   i, j, size) {
    size = 34
    text(10, 24, "memory", "strong")
    for (i = 0; i < 12; i++) cell(110 + i * size, 6, size, 28, "c" int(i / 4), i)
    rect(110, 6, 4 * size, 28, "ring")
    text(110 + 12 * size + 14, 24, "lanes 0 to 3 load the ringed numbers", "soft")
    text(110, 66, "b, 3 × 4", "strong")
    text(110, 82, "row = 4, col = 1", "soft")
    for (i = 0; i < 3; i++) for (j = 0; j < 4; j++)
        cell(110 + j * size, 92 + i * size, size, size, "c" i, 4 * i + j)
    rect(110, 92, 4 * size, size, "ring")
    text(110, 214, "the lanes walk along a row", "soft")
    text(360, 66, "the same memory read as bᵀ, 4 × 3", "strong")
    text(360, 82, "row = 1, col = 4", "soft")
    for (i = 0; i < 4; i++) for (j = 0; j < 3; j++)
        cell(360 + j * size, 92 + i * size, size, size, "c" j, i + 4 * j)
    rect(360, 92, size, 4 * size, "ring")
    text(480, 110, "the lanes walk down a column", "soft")
    finish(760, 240, "Twelve numbers in memory, read as b, 3 x 4, with strides 4 and 1, and as its transpose, 4 x 3, with strides 1 and 4. " \
        "The first four numbers of memory are the first row of b and the first column of its transpose.")
}

# x, 4 x 4, with its frame of zeros, and the matrix of columns for windows of 3 x 3.
function window(   i, j, r, s, size, pixel, tap, row, col, small) {
    size = 30; small = 22
    text(10, 20, "x, 4 × 4, and a frame of zeros", "strong")
    for (i = -1; i <= 4; i++) for (j = -1; j <= 4; j++) {
        if (i < 0 || j < 0 || i > 3 || j > 3) { rect(40 + j * size, 62 + i * size, size, size, "dash")
        continue }
        cell(40 + j * size, 62 + i * size, size, size, "c" i, 4 * i + j)
    }
    rect(40, 32, 3 * size, 3 * size, "ring")
    text(10, 238, "the window of pixel 1 is ringed", "soft")
    text(260, 20, "columns, 9 × 16: tap (r, s) down, pixel across. It is nowhere in memory", "strong")
    for (tap = 0; tap < 9; tap++) {
        r = int(tap / 3); s = tap % 3
        text(298, 57 + tap * small, "(" r ", " s ")", "end soft")
        for (pixel = 0; pixel < 16; pixel++) {
            row = int(pixel / 4) - 1 + r; col = pixel % 4 - 1 + s
            if (row < 0 || col < 0 || row > 3 || col > 3) { cell(306 + pixel * small, 42 + tap * small, small, small, "", "0")
            continue }
            cell(306 + pixel * small, 42 + tap * small, small, small, "c" row, 4 * row + col)
        }
    }
    rect(306 + small, 42, small, 9 * small, "ring")
    text(306, 260, "A tile of it is filled straight from x; the number says from which element.", "soft")
    finish(760, 274, "The image of 4 x 4 numbers, and the matrix of 9 taps times 16 pixels whose elements are taken from it. " \
        "The column of pixel 1 has the nine numbers of its window, three of them zeros of the frame.")
}

# A block's tile of c, eight warps, 4 x 2 fragments each; tiles of a and b, 32 wide.
function fragments(   i, j, w, u) {
    u = 26
    text(120, 18, "b: 32 × 128", "strong")
    for (i = 0; i < 2; i++) for (j = 0; j < 8; j++) cell(120 + j * u, 26 + i * u, u, u, "")
    text(10, 100, "a: 128 × 32", "strong")
    for (i = 0; i < 8; i++) for (j = 0; j < 2; j++) cell(40 + j * u, 108 + i * u, u, u, "")
    for (i = 0; i < 8; i++) for (j = 0; j < 8; j++) {
        w = int(i / 4) * 4 + int(j / 2)
        cell(120 + j * u, 108 + i * u, u, u, "c" w)
    }
    for (w = 0; w < 8; w++) {
        rect(120 + w % 4 * 2 * u, 108 + int(w / 4) * 4 * u, 2 * u, 4 * u, "way")
        text(120 + w % 4 * 2 * u + u, 108 + int(w / 4) * 4 * u + u / 2 + 4, "warp " w, "mid")
    }
    rect(120 + 2 * u, 108, 2 * u, 4 * u, "ring"); rect(40, 108, u, 4 * u, "ring")
    rect(120 + 2 * u, 26, 2 * u, u, "ring")
    text(120, 336, "c: 128 × 128, the sums of a block", "strong")
    text(360, 130, "A cell is a fragment of 16 × 16 numbers.")
    text(360, 154, "Warp 1 holds 4 × 2 fragments of sums. For 16 of k it loads")
    text(360, 172, "4 fragments of a and 2 of b, and multiplies 8 pairs.")
    text(360, 196, "So it uses each fragment of a twice, and each of b four times.")
    text(360, 214, "Four warps load the same fragments of a, two the same of b.")
    finish(760, 350, "A block has 128 x 128 sums in eight warps, two down and four across. Each warp has 4 x 2 fragments of 16 x 16 numbers. " \
        "Warp 1 reads four fragments of a and two of b from the tiles in shared memory.")
}

# Two sequences, whose tables name pages of one pool; the first page is shared.
function pages(   i, j, k, s, n, table, full, at, used, color) {
    split("5 2 9", table, " ")
    text(10, 30, "block_table[0]", "strong")
    text(10, 92, "block_table[1]", "strong")
    for (i = 0; i < 5; i++) {
        cell(130 + i * 46, 12, 46, 28, i < 3 ? (i ? "c1" : "c2") : "", i < 3 ? table[i + 1] : "?")
        cell(130 + i * 46, 74, 46, 28, i < 2 ? (i ? "c0" : "c2") : "", i == 0 ? 5 : i == 1 ? 7 : "?")
    }
    text(380, 30, "40 tokens: pages 5 and 2 full, page 9 in part", "soft")
    text(380, 74, "28 tokens; the first 16 are the same: page 5 is shared", "soft")
    text(10, 190, "pool", "strong")
    for (i = 0; i < 10; i++) {
        color = i == 5 ? "c2" : i == 2 || i == 9 ? "c1" : i == 7 ? "c0" : ""
        used = i == 9 ? 8 : i == 7 ? 12 : color != "" ? 16 : 0
        for (j = 0; j < 16; j++)
            rect(60 + i * 70 + j % 4 * 15, 160 + int(j / 4) * 12, 15, 12, "cell " (j < used ? color : ""))
        text(60 + i * 70 + 30, 226, "page " i, "mid soft")
    }
    line(153, 40, 436, 158, "way"); line(199, 40, 226, 158, "way"); line(245, 40, 710, 158, "way")
    line(153, 102, 436, 158, "way"); line(199, 102, 576, 158, "way")
    text(10, 252, "A cell is a token: its key and its value. Cells without colour may hold anything, NaN too, and must not be read.", "soft")
    finish(770, 264, "A pool of ten pages of 16 tokens. The table of sequence 0 names pages 5, 2 and 9, that of sequence 1 pages 5 and 7. " \
        "The last pages are filled in part, and the other pages are not theirs.")
}

# Entries 0 to 7 in the order of tokens, and sorted by expert.
function permutation(   i, e, u, expert, place, count) {
    split("2 0 0 1 2 1 0 2", expert, " ")
    u = 62
    text(10, 22, "expert_ids", "strong"); text(10, 176, "permutation", "strong")
    text(10, 216, "offsets", "strong")
    for (i = 0; i < 8; i++) {
        if (i % 2 == 0) text(130 + i * u + u, 52, "token " i / 2, "mid soft")
        cell(130 + i * u, 4, u, 30, "c" expert[i + 1], expert[i + 1])
    }
    for (e = 0; e < 3; e++) {
        line(130 + place * u, 194, 130 + place * u, 202, "way")
        text(130 + place * u, 216, place + 0, "mid")
        count = place
        for (i = 0; i < 8; i++) if (expert[i + 1] == e) {
            line(130 + i * u + u / 2, 58, 130 + place * u + u / 2, 154, "way")
            cell(130 + place * u, 158, u, 30, "c" e, i)
            place++
        }
        text(130 + (count + place) / 2 * u, 234, "expert " e, "mid soft")
    }
    line(130 + 8 * u, 194, 130 + 8 * u, 202, "way"); text(130 + 8 * u, 216, 8, "mid")
    finish(760, 244, "Eight entries of four tokens, two choices each, are sorted by expert. Within an expert they keep their order: " \
        "expert 0 has entries 1, 2 and 6, expert 1 has 3 and 5, expert 2 has 0, 4 and 7.")
}

# Tiles of four experts with 300, 0, 20 and 130 rows; block = tile % 4.
function tiles(   e, i, j, n, down, rows, x, tile, part) {
    split("300 0 20 130", rows, " ")
    x = 90
    text(10, 130, "128 rows", "soft"); text(10, 146, "a tile", "soft")
    for (e = 0; e < 4; e++) {
        text(x + 60, 18, "expert " e, "mid strong")
        text(x + 60, 36, rows[e + 1] " rows", "mid soft")
        down = int((rows[e + 1] + 127) / 128)
        for (j = 0; j < 2; j++) for (i = 0; i < down; i++) {
            part = rows[e + 1] - 128 * i; if (part > 128) part = 128
            rect(x + j * 60, 46 + i * 64, 60, part < 6 ? 3 : part / 2, "c" tile % 4)
            cell(x + j * 60, 46 + i * 64, 60, 64, "", tile + 0); tile++
        }
        if (!down) text(x + 60, 84, "no tile", "mid soft")
        x += 165
    }
    for (i = 0; i < 4; i++) { rect(90 + i * 100, 256, 18, 14, "cell c" i)
    text(114 + i * 100, 268, "block " i) }
    text(90, 292, "Coloured: rows that the expert has. The rest of a tile is computed for nothing.", "soft")
    finish(760, 304, "Twelve tiles, numbered through four experts with 300, 0, 20 and 130 rows. Four blocks take tile after tile: " \
        "block 0 has tiles 0, 4 and 8.")
}

# A framed box in shared memory, one pixel a row, and where the taps begin.
function taps(   i, j, n, name, u, place, r, s) {
    split(". . . . . . a b c d . e f g h . i j k l", name, " ")
    u = 30
    text(10, 20, "the box: a frame of zeros", "strong")
    text(10, 36, "and the pixels around two rows", "strong")
    for (i = 0; i < 4; i++) for (j = 0; j < 5; j++) {
        n = i * 5 + j
        cell(20 + j * u, 50 + i * u, u, u, name[n + 1] == "." ? "" : "c" i, name[n + 1] == "." ? "0" : name[n + 1])
    }
    text(10, 190, "row after row in shared memory:", "soft")
    text(10, 206, "a pixel's channels are one row of 128 bytes", "soft")
    text(300, 20, "Each tap begins at another pixel, and reads on from there:", "strong")
    for (n = 0; n < 20; n++) {
        text(330 + n * 21 + 10, 44, n, "mid soft")
        cell(330 + n * 21, 50, 21, 24, name[n + 1] == "." ? "" : "c" int(n / 5), name[n + 1] == "." ? "0" : name[n + 1])
    }
    for (i = 0; i < 5; i++) {
        r = i < 2 ? 0 : i < 4 ? 1 : 2; s = i == 1 || i == 3 ? 1 : i == 4 ? 2 : 0
        place = r * 5 + s
        text(322, 99 + i * 24, "tap (" r ", " s ")", "end soft")
        rect(330 + place * 21, 84 + i * 24, 4 * 21, 20, "ring")
        for (j = 0; j < 4; j++)
            text(330 + (place + j) * 21 + 10, 99 + i * 24, name[place + j + 1] == "." ? "0" : name[place + j + 1], "mid")
    }
    text(330, 224, "ringed: what the outputs a, b, c, d multiply by the tap's weights", "soft")
    finish(760, 236, "A box of pixels with a frame of zeros lies in shared memory, one pixel a row. For the outputs a, b, c and d tap (r, s) reads " \
        "four neighbouring rows, which begin at row 5 r + s.")
}

# What a linear layer writes a token, and what attention reads a head: 3 tokens, 2 heads of 2 numbers.
function heads(   t, w, h, d, u, name, x) {
    split("q k v", name, " ")
    u = 30
    text(10, 20, "[batch, seq, 3, heads, dim]: a token's numbers side by side", "strong")
    for (t = 0; t < 3; t++) {
        text(70, 66 + t * u, "token " t, "end soft")
        for (w = 0; w < 3; w++) for (h = 0; h < 2; h++) for (d = 0; d < 2; d++) {
            x = 80 + ((w * 2 + h) * 2 + d) * u
            cell(x, 46 + t * u, u, u, "c" (w * 2 + h), t == 0 && d == 0 ? name[w + 1] h : "")
        }
    }
    rect(80 + 2 * u, 46, 2 * u, 3 * u, "ring")
    text(10, 176, "[3, batch, heads, seq, dim]: a head as a whole", "strong")
    for (w = 0; w < 3; w++) for (h = 0; h < 2; h++) {
        x = 80 + (w * 2 + h) * 105
        text(x + u, 196, name[w + 1] ", head " h, "mid soft")
        for (t = 0; t < 3; t++) for (d = 0; d < 2; d++)
            cell(x + d * u, 204 + t * u, u, u, "c" (w * 2 + h))
    }
    rect(80 + 105, 204, 2 * u, 3 * u, "ring")
    text(470, 66, "ringed: the queries of head 1,", "soft")
    text(470, 84, "strewn above, and in one piece below", "soft")
    finish(760, 306, "The numbers of three tokens, each with queries, keys and values of two heads. Attention wants each head's matrix of tokens by dim " \
        "in one piece.")
}

BEGIN {
    split("#0072b2 #e69f00 #009e73 #cc79a7 #56b4e9 #d55e00 #c9b800 #8a9099", hue, " ")
    if (picture == "212_strides") strides()
    else if (picture == "307_window") window()
    else if (picture == "402_fragments") fragments()
    else if (picture == "410_pages") pages()
    else if (picture == "411_permutation") permutation()
    else if (picture == "412_tiles") tiles()
    else if (picture == "507_taps") taps()
    else if (picture == "508_heads") heads()
    else { print "layouts.awk: no picture " picture > "/dev/stderr"; exit 1 }
}
