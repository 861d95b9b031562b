JA‡
U¥:‹ËfLÙpt„Em