/** The agents of the demo, with messages to try. A new chat begins with the first. */
export const AGENTS = [
  {
    name: 'assistant',
    hints: [
      'What is the weather in Oslo and Lima?',
      'Send Ada and Bob a mail about lunch.',
      'Tell me a long story.',
      'Show me Markdown.',
    ],
  },
  { name: 'echo', hints: ['Hello there', 'Ask me something.'] },
] as const

export type DemoAgent = (typeof AGENTS)[number]
