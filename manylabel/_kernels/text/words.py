"""Words of UTF-8 texts, and hashes of runs of words or of characters.

A chunk of texts is one buffer with a blank before the first and after every text, so
that a word never touches the end of the buffer nor the next text. ASCII letters,
digits and the underscore make words, as does every byte beyond ASCII: other characters
have been made blanks. A gram is given by its 64-bit hash and by its stretch of bytes.
The top bits of the hash of a run of words tell by how many it is longer than the least.
"""

import numpy as np

from manylabel._kernels._jit import allocating_kernel, inner, kernel

BLANK = np.uint8(32)
# FNV-1a (Fowler, Noll & Vo 1991), mixed at the end as in SplitMix64.
BASIS, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
TURN = np.uint64(0x9E3779B97F4A7C15)
N_TOP = np.uint64(3)
REST = np.uint64(64) - N_TOP
MOST_FURTHER = (1 << int(N_TOP)) - 1


IS_WORD = np.zeros(256, np.bool_)
IS_WORD[list(b"0123456789_abcdefghijklmnopqrstuvwxyz")] = True
IS_WORD[0x80:] = True  # beyond ASCII
STARTS = np.ones(256, np.bool_)  # of a character; the others go on with it
STARTS[0x80:0xC0] = False


@inner
def _mixed(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def find_words(text, starts, w_indptr, begins, ends):
    """Write where the words of each text begin and end; text i begins at ``starts[i]``.

    Returns how many words there are.
    """
    n = 0
    w_indptr[0] = 0
    for i in range(w_indptr.shape[0] - 1):
        at = starts[i]
        stop = starts[i + 1]
        while at < stop:
            if not IS_WORD[text[at]]:
                at += 1
                continue
            begins[n] = at
            while IS_WORD[text[at]]:
                at += 1
            ends[n] = at
            n += 1
        w_indptr[i + 1] = n
    return n


@allocating_kernel
def word_grams(text, w_indptr, begins, ends, sizes, g_indptr, hashes, places):
    """Write the runs of ``sizes[0]`` to ``sizes[1]`` words of each text.

    ``places`` gets the first and the end byte of each. Returns how many there are.
    """
    words = np.empty(w_indptr[-1], np.uint64)
    for w in range(words.shape[0]):
        state = BASIS
        for at in range(begins[w], ends[w]):
            state = (state ^ np.uint64(text[at])) * PRIME
        words[w] = _mixed(state)
    n = 0
    g_indptr[0] = 0
    for i in range(w_indptr.shape[0] - 1):
        for first in range(w_indptr[i], w_indptr[i + 1]):
            state = words[first]
            most = min(sizes[1], w_indptr[i + 1] - first)
            for size in range(1, most + 1):
                last = first + size - 1
                if size > 1:
                    state = _mixed((state * PRIME + TURN) ^ words[last])
                if size >= sizes[0]:
                    further = np.uint64(min(size - sizes[0], MOST_FURTHER))
                    hashes[n] = (state >> N_TOP) | (further << REST)
                    places[n, 0], places[n, 1] = begins[first], ends[last]
                    n += 1
        g_indptr[i + 1] = n
    return n


@kernel
def character_grams(text, w_indptr, begins, ends, sizes, g_indptr, hashes, places):
    """Write the runs of characters within each word, a blank before and after it.

    A word shorter than ``sizes[0]``, its blanks included, is one gram. Arguments and
    result are those of ``word_grams``.
    """
    n = 0
    g_indptr[0] = 0
    for i in range(w_indptr.shape[0] - 1):
        for w in range(w_indptr[i], w_indptr[i + 1]):
            length = 2
            for at in range(begins[w], ends[w]):
                length += STARTS[text[at]]
            least = min(sizes[0], length)
            for first in range(begins[w] - 1, ends[w] + 1):
                if STARTS[text[first]]:
                    limits = (least, sizes[1], first, ends[w] + 1)
                    n = _runs(text, limits, hashes, places, n)
        g_indptr[i + 1] = n
    return n


@inner
def _runs(text, limits, hashes, places, n):
    """Write the runs of characters from a place; return how many there are by now."""
    least, most, first, stop = limits
    state, size, at = BASIS, 0, first
    while at < stop and size < most:
        # A word is between blanks, whatever stands there in the text.
        byte = text[at] if IS_WORD[text[at]] else BLANK
        state = (state ^ np.uint64(byte)) * PRIME
        at += 1
        if at == stop or STARTS[text[at]]:
            size += 1
            if size >= least:
                hashes[n] = _mixed(state) >> N_TOP
                places[n, 0], places[n, 1] = first, at
                n += 1
    return n


@inner
def spell(text, begin, end, out, n):
    """Copy a gram to ``out[n:]``, its words one blank apart; return the new end."""
    for at in range(begin, end):
        if IS_WORD[text[at]]:
            out[n] = text[at]
            n += 1
        elif at == begin or IS_WORD[text[at - 1]]:
            out[n] = BLANK
            n += 1
    return n
