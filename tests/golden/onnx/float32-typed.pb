"A‡
U¥:‹ËfLÙpt„EmBy