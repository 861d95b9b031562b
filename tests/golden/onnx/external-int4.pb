B	elsewherej
locationexternal-int4.binj
offset3j
length5p