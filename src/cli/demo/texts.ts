/** Enough for a reload in the middle: about ten seconds. */
export const LONG_STORY = `## The lighthouse

${[
  'A keeper lived in a lighthouse at the end of a long pier. Each evening she lit the lamp, and each morning she wrote down the ships that had passed.',
  'One night a storm took the pier. The lamp burned on, but nobody could bring oil any more, and nobody could fetch the book.',
  'So she wrote more slowly. She left out the weather, then the names of the captains, and then all but the number of masts.',
  'On the ninth day a boat came from the town. They had counted the nights on which the light was there, and wanted to know what had kept it burning.',
  'She showed them the book. It had nine lines, and each of them was shorter than the one before. The last one was a single stroke.',
  'They built the pier again, of stone this time. The keeper stayed for another thirty years, and wrote down every ship with its name, its captain and the weather.',
  'When she was old, a child asked her which of all those pages was the best. She opened the book at the ninth day, and showed the stroke.',
  'It says that somebody was there, she said. Everything else can be written later. And she went up to light the lamp, because it was evening.',
].join('\n\n')}`

export const MARKDOWN = `## Markdown

Text can be **bold**, *italic*, ~~struck~~ or \`code\`, with [links](https://example.com).

1. First
2. Second
   - with a list of its own

| Protocol | Path |
|---|---|
| Agent Streaming Protocol | \`/threads\` |
| OpenAI | \`/v1\` |

> A quotation.

\`\`\`ts
const agent = defineAgent({ model, tools: { weather } })
\`\`\``
