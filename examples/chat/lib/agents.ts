/** An agent in the page's list. */
export interface AgentEntry {
  /** Its assistant id. */
  readonly id: string
  readonly title: string
  /** A short description for the list. */
  readonly brief: string
  readonly description: string
  /** Messages to try. */
  readonly prompts: readonly string[]
}

export const AGENTS: readonly AgentEntry[] = [
  {
    id: 'agent',
    title: 'Deep agent',
    brief: 'Plans, delegates, writes files',
    description:
      'It has two subagents: a researcher with a few pages to search, and a math-whiz with a calculator.',
    prompts: [
      'What is 12 * (3 + 4), and what is a checkpoint?',
      'Show me what Markdown can do',
      'Draw a chart of a week of coffee',
      'Write a report about coffee',
      'Research coffee, and ask me what exactly',
      'Tell me a long story',
    ],
  },
  {
    id: 'secretary',
    title: 'Secretary',
    brief: 'Asks before it sends',
    description: 'It writes letters, and asks you before it sends one.',
    prompts: [
      'Email ada@example.com that lunch is at noon',
      'Email ada@example.com and bob@example.com that lunch is at noon',
    ],
  },
  {
    id: 'echo',
    title: 'Echo',
    brief: 'A function, no model',
    description: 'A plain function that repeats what you say, and asks you when you tell it to.',
    prompts: ['Hello, echo', 'Ask me'],
  },
]
