"""The making of the packaged model: composed documents, a tokenizer, training and evaluation.

Each module builds on those before it:

- words: `splits` (what is kept from training), `words`, `phrases`
- values: `date_styles`, `scene`, `inflection`, `names`, `quantities`, `dates`, `lists`, `composites`
- kinds of record: `kind` (their notation), `attributes`, `kinds`, `flags`, `invented`
- documents: `statements`, `sentences`, `story`, `asides`, `finishing`, `forms`, `layouts`, `tables`, `filler`
- samples: `questions`, `messages`, `generate`, `examples` (what a model reads), `variety` (how much they differ)
- training: `tokenizer`, `word_vectors`, `network`, `muon`, `prefetching`, `progress`, `train`,
  `adapter` (of a chat model), `shrink` (a chat model to some layers), `average`
- measuring: `evaluate`
"""
