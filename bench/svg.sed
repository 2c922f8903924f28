# svg.sed: takes from gnuplot's pictures the groups that draw nothing; what is left has a line an element.
#   sed -zE -f bench/svg.sed
:empty
s/\n[ \t]*<g [^>]*>\s*<\/g>/\n/g
t empty
s/\n\s*\n/\n/g
s/\n\t\t+ ?(['ML])/ \1/g
s/>\n\s*<text>/><text>/g
s/<\/text>\n\s*<\/g>/<\/text><\/g>/g
s/(<g [^>]*>)\n\s*(<[^\n]*<\/g>)\n/\1\2\n/g
