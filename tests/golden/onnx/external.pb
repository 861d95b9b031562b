B	elsewherej
locationexternal.binj
offset16j
length24p