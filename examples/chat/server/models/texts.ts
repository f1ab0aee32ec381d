export const GREETING =
  'Hello! I am a deep agent with **two helpers**. Ask me something to compute (`12 * (3 + 4)`), something to research (*what is a ' +
  'checkpoint?*), or both in one sentence, and watch them work side by side. Or ask for a story, and stop me in the middle.'

export const MARKDOWN = `## What I can write

A **bold** word, an *italic* one, some \`code\`, and a [link to the home of Markdown](https://commonmark.org).

### A table

| Helper | Tool | Good at |
|---|---|---:|
| researcher | \`search\` | pages |
| math-whiz | \`calculator\` | 12 * (3 + 4) |

### Some code

\`\`\`ts
const words = ['one', 'two', 'three']

/** The sum of the lengths. */
export function count(list: readonly string[]): number {
  return list.reduce((sum, word) => sum + word.length, 0)
}

console.log(\`\${count(words)} letters\`)
\`\`\`

### A list

1. It streams word by word.
2. A list may have a list inside:
   - such as this one,
   - with two items.
3. It ends here.

> A quotation is a good end.`

export const STORY = [
  'Once there was a stream that nobody could hold. It rose in the hills as a single word, and every word after it wanted to be',
  'first. The people of the valley built a pipe for it, and when the pipe broke, as pipes do, they stood at the mended end and',
  'asked what they had missed. Nobody knew. So a miller began to number the drops. He wrote each one into a ledger before he let',
  'it pass, and he never wrote two with one number. When a traveller came late, the miller read to him from the ledger, and when',
  'he had read the last line he simply pointed at the water, and the traveller could not say where the ledger had ended and the',
  'stream begun. When a traveller fell asleep, the miller did not wait for him, nor fill buckets on his behalf. He left a thread',
  'between the pages where the man had nodded off, and that was all it cost. Years went by. The mill burned and was rebuilt, and',
  'the ledger, which lay elsewhere, was still true. And if you ask in that valley who was the most important among the travellers,',
  'they will tell you: the one who asked the miller to stop, for the miller put down his pen at once, wrote “stopped here” under',
  'the last line, and went home for supper.',
].join(' ')

const LISTENERS = [
  ['a traveller', 'whether the water had ever been lost', 'Only what nobody had numbered'],
  ['a child', 'why the drops had numbers at all', 'So that you may sleep and lose none'],
  ['a merchant', 'what a copy of the ledger would cost', 'A pen, some ink, and the will to read'],
  ['a judge', 'who had stopped the mill last winter', 'You did, and here is your line'],
  ['a second miller', 'which of the two might write', 'The one who holds the key, until he lays it down'],
  ['a flood', 'nothing, and took the bridge', 'I have it up to the last line'],
  ['a drought', 'for patience', 'The page is open where we left it'],
  ['a poet', 'for the most beautiful drop', 'Number four thousand and ninety-six, it was blue'],
] as const

/** The story, with a chapter for each listener: about 600 words. */
export const LONG_STORY = [
  '# The miller and the stream',
  STORY,
  ...LISTENERS.map(
    ([who, what, answer], at) =>
      `## Chapter ${at + 1}\n\nIn the year ${at + 1} after the fire there came to the mill ${who}, and asked ${what}. ` +
      `The miller turned back ${at + 3} pages, ran a finger down the numbers, and said: “${answer}.” Then he dipped his pen, ` +
      'since the stream had not waited, and wrote on.',
  ),
  'And if it has not run dry, **it is still being written**.',
].join('\n\n')
