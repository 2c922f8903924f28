# svg.sed: takes from gnuplot's pictures the groups that draw nothing and filters that nothing uses; of what is left a curve,
# with its points, is a line.
#   sed -zE -f bench/svg.sed
s/\n\t<filter id='(textbox|greybox)'[^\n]*\n[^\n]*\n[^\n]*\n\t<\/filter>//g
:empty
s/\n[ \t]*<g [^>]*>\s*<\/g>/\n/g
t empty
s/\n\s*\n/\n/g
s/\n\t\t+ ?(['ML])/ \1/g
s/>\n\s*(<text>|<use |<\/g>)/>\1/g
s/(<g [^>]*>)\n\s*(<[^\n]*<\/g>)\n/\1\2\n/g
