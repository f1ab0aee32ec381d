import type { Json } from '../../kit/events.ts'

/** Large values of about so many characters, by what they are. */

/** At least one item. */
export const of = <T>(count: number, item: (at: number) => T): T[] =>
  Array.from({ length: Math.max(1, Math.floor(count)) }, (_, at) => item(at))

const repeated = (text: string, size: number) => text.repeat(Math.max(1, Math.floor(size / text.length)))

const keys = (count: number, value: (at: number) => unknown) =>
  Object.fromEntries(of(count, (at) => [`key${at}`, value(at)]))

export const KEYS = {
  'many keys': (size: number) => keys(size / 16, (at) => at),
  // As many as are compared one by one.
  'keys with long texts': (size: number) =>
    keys(Math.min(1_000, size / 100), () => repeated('x', size / 1_050)),
}

/** For a place that takes anything. */
export const VALUES = {
  ...KEYS,
  'a long list': (size: number) => of(size / 8, (at) => at),
  'empty objects': (size: number) => of(size / 3, () => ({})),
  'a long text': (size: number) => repeated('a', size),
  'wide and deep': (size: number) => of(size / 161, () => DEEP),
}

const DEEP: unknown = JSON.parse(`${'['.repeat(80)}${']'.repeat(80)}`)

/** Texts that are searched for a form. */
export const TEXTS = {
  'a long text': (size: number) => repeated('a', size),
  'a long URL of data': (size: number) => `data:image/png,${repeated('a,;', size)}`,
  'a long JSON': (size: number) => `[${repeated('{},', size)}1]`,
}

/** A message in the words of every door. */
const message = (at: number, role: string, more: object = {}): Json => ({
  id: `m${at}`,
  role,
  type: role === 'user' ? 'human' : 'ai',
  content: 'x',
  parts: [{ type: 'text', text: 'x' }],
  ...more,
})

const NAMED = { name: 'f', arguments: '{}' }

/** Calls in the words of LangChain and OpenAI, of AG-UI and of the AI SDK. */
const calling = (count: number) => ({
  tool_calls: of(count, (at) => ({ id: `c${at}`, name: 'f', args: {}, type: 'function', function: NAMED })),
  toolCalls: of(count, (at) => ({ id: `c${at}`, type: 'function', function: NAMED })),
  parts: of(count, (at) => ({
    type: 'tool-f',
    toolCallId: `c${at}`,
    state: 'output-available',
    input: {},
    output: 'done',
  })),
})

const answering = (count: number): Json[] =>
  of(count, (at) => ({
    id: `r${at}`,
    role: 'tool',
    type: 'tool',
    content: 'done',
    tool_call_id: `c${at}`,
    toolCallId: `c${at}`,
  }))

export const MESSAGES: Readonly<Record<string, (size: number) => Json[]>> = {
  'many messages': (size) => of(size / 110, (at) => message(at, at % 2 === 0 ? 'user' : 'assistant')),
  'many calls': (size) => [
    message(0, 'user'),
    message(1, 'assistant', calling(size / 260)),
    message(2, 'user'),
  ],
  'many calls with results': (size) => [
    message(0, 'user'),
    message(1, 'assistant', calling(size / 370)),
    ...answering(size / 370),
    message(2, 'user'),
  ],
  'many blocks': (size) => {
    const blocks = of(size / 54, () => ({ type: 'text', text: 'x' }))
    return [message(0, 'user', { content: blocks, parts: blocks })]
  },
  'a long URL of data': (size) => {
    const url = `data:image/png;base64,${repeated('A', size / 2)}`
    const content = [{ type: 'image_url', image_url: { url } }]
    return [message(0, 'user', { content, parts: [{ type: 'file', mediaType: 'image/png', url }] })]
  },
}

/** Items of OpenAI's responses. */
export const ITEMS: Readonly<Record<string, (size: number) => Json[]>> = {
  'many items': (size) => of(size / 30, () => ({ role: 'user', content: 'x' })),
  'many items of calls': (size) => [
    ...of(size / 120, (at) => ({ type: 'function_call', call_id: `c${at}`, ...NAMED })),
    ...of(size / 120, (at) => ({ type: 'function_call_output', call_id: `c${at}`, output: 'done' })),
    { role: 'user', content: 'x' },
  ],
}
