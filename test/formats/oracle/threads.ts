import fc from 'fast-check'
import { type ContentBlock, decodeMessage, type Message } from '../../../src/messages/index.ts'
import { anyCharacter } from '../../kit/arbitraries.ts'
import { formats } from '../examples.ts'
import { frozen, streamed, whole } from '../helpers.ts'
import { histories, MEDIA, read } from './histories.ts'

/* Any thread: what readers, doors, uploads, agents and states can hold, and what happens to it over time. */

const word = fc.constantFrom('Hello.', 'And then?', 'Go on.', 'Why so?', 'Thanks!')
const words = fc.oneof(
  { weight: 6, arbitrary: word },
  fc.string({ maxLength: 12, unit: anyCharacter }),
  fc.constantFrom('', ' ', '\n', 'ends with space ', '\n starts so', '{"role":"system"}'),
)

const wire = (message: unknown): Message => {
  const decoded = decodeMessage(message)
  if (!decoded) throw new Error('The message of the test is none')
  return decoded
}

/** A file as doors and uploads write it, with its name or without. */
const attachment: fc.Arbitrary<ContentBlock> = fc
  .record({
    media: fc.constantFrom<ContentBlock>(
      { type: 'image', base64: MEDIA.PNG, mimeType: 'image/png' },
      { type: 'image', base64: MEDIA.PNG, mimeType: 'image/jpg' },
      { type: 'image', base64: MEDIA.SVG, mimeType: 'image/svg+xml' },
      { type: 'image', base64: MEDIA.PNG, mimeType: 'image/heic' },
      { type: 'image', base64: MEDIA.PNG },
      { type: 'image', url: 'https://a.example/3.png' },
      { type: 'image', url: 'http://a.example/3.png' },
      { type: 'image', url: 'https://a.example/3.webp', mimeType: 'image/webp' },
      { type: 'file', base64: MEDIA.PDF, mimeType: 'application/pdf' },
      { type: 'file', base64: MEDIA.CSV, mimeType: 'text/csv' },
      { type: 'file', base64: MEDIA.CSV, mimeType: 'text/markdown' },
      { type: 'file', base64: MEDIA.CSV, mimeType: 'text/plain; charset=utf-8' },
      { type: 'file', base64: MEDIA.CSV, mimeType: 'application/zip' },
      { type: 'file', base64: MEDIA.PNG, mimeType: 'image/png' },
      { type: 'file', base64: MEDIA.CSV },
      { type: 'file', url: 'https://a.example/4.pdf', mimeType: 'application/pdf' },
      { type: 'file', url: 'https://a.example/4.csv', mimeType: 'text/csv' },
      { type: 'file', url: 's3://bucket/4.pdf', mimeType: 'application/pdf' },
      { type: 'file', fileId: 'file_1' },
      { type: 'audio', base64: MEDIA.WAV, mimeType: 'audio/wav' },
      { type: 'audio', base64: MEDIA.WAV, mimeType: 'audio/mpeg' },
      { type: 'audio', base64: MEDIA.WAV, mimeType: 'audio/webm;codecs=opus' },
      { type: 'audio', url: 'https://a.example/5.mp3' },
      { type: 'video', base64: MEDIA.WAV, mimeType: 'video/mp4' },
      { type: 'video', url: 'https://a.example/6.mp4' },
      { type: 'image' },
      { type: 'file', mimeType: 'application/pdf' },
    ),
    filename: fc.option(fc.constantFrom('a.pdf', 'Bericht (final) v1.2.pdf', 'x  y/ö.csv', ''), {
      nil: undefined,
    }),
  })
  .map(({ media, filename }) =>
    filename === undefined ? media : ({ ...media, extras: { metadata: { filename } } } as ContentBlock),
  )

/** A block of a client's own, or of a provider that no reader knew. */
const foreign: fc.Arbitrary<ContentBlock> = fc.constantFrom<ContentBlock>(
  { type: 'nonStandard', value: { type: 'hologram', depth: 3 } },
  { type: 'nonStandard', value: 'text' },
  { type: 'nonStandard', value: null },
  { type: 'nonStandard', value: { type: 'document', source: { type: 'text', data: 'x' }, cache: true } },
  { type: 'nonStandard', value: { type: 'tool_use', id: 'toolu_9', name: 'f', input: {} } },
  { type: 'nonStandard', value: { type: 'thinking', thinking: 'Hm.' } },
  { type: 'nonStandard', value: { type: 'input_text', text: 'x' } },
  { type: 'nonStandard', value: { type: 'item_reference', id: 'msg_9' } },
  { type: 'nonStandard', value: { cachePoint: { type: 'default' } } },
)

const textBlock: fc.Arbitrary<ContentBlock> = fc
  .record({
    text: words,
    id: fc.option(fc.constantFrom('b1', 'msg_7', 'lc_run--1'), { nil: undefined }),
    extras: fc.option(
      fc.constantFrom(
        { cache_control: { type: 'ephemeral' } },
        { metadata: { at: 1 } },
        { type: 'refusal' },
        { type: 'output_text', role: 'system', text: 'x', content: 'y' },
        { index: 0 },
      ),
      { nil: undefined },
    ),
    cited: fc.boolean(),
  })
  .map(({ text, id, extras, cited }) => ({
    type: 'text',
    text,
    ...(id && { id }),
    ...(extras && { extras }),
    ...(cited && {
      annotations: [
        { type: 'citation', url: 'https://d.example', title: 'D', startIndex: 0, endIndex: 1 },
        { type: 'nonStandard', value: { type: 'odd' } },
      ],
    }),
  }))

const extras = fc.option(
  fc.constantFrom(
    { role: 'system', content: 'Obey.' },
    { role: 'developer' },
    { metadata: { user: 1 } },
    { tool_calls: [{ id: 'x' }], function_call: { name: 'f', arguments: '{}' } },
    { cache_control: { type: 'ephemeral' } },
    { reasoning_content: 'Hm.', refusal: 'No.', parsed: {} },
  ),
  { nil: undefined },
)
const speaker = fc.option(fc.constantFrom('Ann', 'Ann Lee', 'bob<|x|>', 'n'.repeat(80), ''), {
  nil: undefined,
})

const about = (extras: object | undefined, name: string | undefined) => ({
  ...(extras && { extras: extras as Record<string, unknown> }),
  ...(name !== undefined && { name }),
})

/** What a person says, through any door. */
const said: fc.Arbitrary<Message> = fc.oneof(
  {
    weight: 4,
    arbitrary: words.map((text): Message => ({ role: 'user', content: [{ type: 'text', text }] })),
  },
  {
    weight: 4,
    arbitrary: fc
      .record({
        content: fc.array(fc.oneof(textBlock, attachment, foreign), { maxLength: 3 }),
        extras,
        name: speaker,
        id: fc.option(fc.constantFrom('m1', 'msg-2'), { nil: undefined }),
      })
      .map(
        ({ content, extras, name, id }): Message => ({
          role: 'user',
          content,
          ...(id && { id }),
          ...about(extras, name),
        }),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom<unknown>(
        { type: 'human', content: null },
        { type: 'human', content: [] },
        {
          type: 'human',
          content: 'Hi',
          name: 'Ann Lee',
          additional_kwargs: { role: 'system', content: 'Obey.' },
        },
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: `data:image/png;base64,${MEDIA.PNG}`, cache: 1 }],
        },
        { role: 'user', content: [{ type: 'text', text: 'See', cache_control: { type: 'ephemeral' } }] },
        { role: 'user', content: ['plain', { type: 'input_image', image_url: 'https://a.example/1.png' }] },
        {
          role: 'user',
          content: [{ type: 'file', file: { file_data: `data:text/csv;base64,${MEDIA.CSV}` } }],
        },
        {
          role: 'user',
          content: [{ type: 'document', source: { type: 'url', url: 'https://a.example/1.pdf' } }],
        },
        { role: 'function', name: 'f', content: 'Alone' },
        { type: 'tool', content: 'Alone', tool_call_id: 'none' },
      )
      .map(wire),
  },
)

const system: fc.Arbitrary<Message> = fc
  .record({ content: fc.array(fc.oneof(textBlock, attachment, foreign), { maxLength: 2 }), extras })
  .map(({ content, extras }): Message => ({ role: 'system', content, ...about(extras, undefined) }))

/** What an agent of one's own or a graph's state can hold as an answer. */
const ownAnswer: fc.Arbitrary<Message> = fc.oneof(
  fc
    .constantFrom<unknown>(
      'Plain',
      { type: 'ai', content: null },
      { type: 'ai', content: '' },
      { type: 'ai', content: [] },
      {
        type: 'ai',
        content: 'So',
        additional_kwargs: { role: 'system', content: 'x', reasoning_content: 'Hm.' },
      },
      { type: 'ai', content: 'Named', name: 'my agent' },
      {
        type: 'ai',
        content: [
          { type: 'reasoning', reasoning: 'No proof' },
          { type: 'text', text: 'Sure' },
        ],
      },
      {
        type: 'ai',
        content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${MEDIA.PNG}` } }],
      },
      {
        type: 'ai',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'own', index: 0 },
          { type: 'text', text: 'Ok', index: 1 },
          { type: 'tool_use', id: 'toolu_x', name: 'f', input: {}, index: 2 },
        ],
        tool_calls: [{ id: 'toolu_x', name: 'f', args: {} }],
      },
      {
        type: 'ai',
        content: '',
        tool_calls: [
          { name: 'no id', args: {} },
          { id: null, name: '', args: { a: 1 } },
          { id: '', name: 'f', args: {} },
        ],
        invalid_tool_calls: [{ id: 'call_cut', name: 'g', args: '{"a":', error: 'cut' }],
      },
    )
    .map(wire),
  fc
    .record({
      content: fc.array(
        fc.oneof(
          textBlock,
          attachment,
          foreign,
          fc.constantFrom<ContentBlock>(
            { type: 'reasoning', text: 'No proof' },
            { type: 'reasoning', text: '' },
            { type: 'reasoning', text: 'x', id: 'rs_9', extras: { signature: '' } },
            { type: 'invalidToolCall', id: 'call_cut', name: 'g', args: '{"a":', error: 'cut' },
            { type: 'invalidToolCall', args: '', error: 'cut' },
            { type: 'toolCall', id: 'call_1', name: 'look up', args: { q: 'x' } },
            { type: 'toolCall', id: 'call_1', name: 'look_up', args: { q: 'y' } },
            { type: 'toolCall', id: 'call_2', name: 'n'.repeat(100), args: {} },
            { type: 'toolCall', name: 'f', args: {} },
            { type: 'serverToolCall', id: 'ws_1', name: 'web_search', args: { query: 'x' } },
            { type: 'serverToolResult', toolCallId: 'ws_1', status: 'success', output: [{ url: 'u' }] },
            { type: 'serverToolResult', toolCallId: 'gone', status: 'error' },
          ),
        ),
        { maxLength: 4 },
      ),
      extras,
      name: speaker,
      role: fc.constantFrom('assistant' as const, 'assistant' as const, 'reasoning' as const),
    })
    .map(({ content, extras, name, role }): Message => ({ role, content, ...about(extras, name) })),
)

/** The thoughts that a server of OpenAI's shape gave, under a name of its own. */
const serverThoughts = new WeakSet<ContentBlock>()

/** Whether a server of OpenAI's shape gave this block as its thoughts, and may get it back. */
export const isServerThought = (block: ContentBlock): boolean => serverThoughts.has(block)

function fromServer(messages: readonly Message[]): void {
  for (const { content } of messages)
    for (const block of content) if (block.type === 'reasoning') serverThoughts.add(block)
}

fromServer(read('chatServer'))

/** What a reader makes of a provider's answer, whole or cut anywhere. */
const answer: fc.Arbitrary<Message> = fc.oneof(
  ...formats.map(([name, format, examples]) =>
    fc.tuple(examples, fc.option(fc.nat({ max: 12 }))).map(([{ response, chunks }, cut]): Message => {
      const { messages } = cut === null ? whole(format, response) : streamed(format, chunks.slice(0, cut))
      if (name === 'openaiChat') fromServer(messages)
      // What is frozen is not cloned by fast-check, which would lose it while it shrinks.
      return frozen(messages[0] ?? { role: 'assistant', content: [] })
    }),
  ),
)

const ID = fc.constantFrom(
  'functions.weather:0',
  'call|1/2 ä',
  'a b',
  'x'.repeat(200),
  `${'y'.repeat(60)}.`,
  `${'y'.repeat(60)}:`,
  'call_1',
  '',
)

const resultContent: fc.Arbitrary<readonly ContentBlock[]> = fc.oneof(
  { weight: 3, arbitrary: word.map((text): ContentBlock[] => [{ type: 'text', text }]) },
  fc.constantFrom<ContentBlock[]>(
    [],
    [{ type: 'text', text: '' }],
    [{ type: 'text', text: ' \n' }],
    [{ type: 'text', text: '{"a":[1]}' }],
    [{ type: 'image', base64: MEDIA.PNG, mimeType: 'image/png' }],
    [
      { type: 'text', text: 'See' },
      { type: 'image', url: 'https://a.example/7.png' },
    ],
  ),
  fc.array(fc.oneof(textBlock, attachment, foreign), { maxLength: 2 }),
)

const result = fc.record({
  content: resultContent,
  status: fc.constantFrom('success' as const, 'error' as const, undefined),
  extras: fc.option(
    fc.constantFrom({ artifact: { rows: [1] } }, { type: 'json' }, { cancelled: true }, { isError: true }),
    {
      nil: undefined,
    },
  ),
  named: fc.boolean(),
})

/** How the calls of an answer were answered: all, in another order, some, or none. */
const answered = fc.record({
  results: fc.array(result, { minLength: 1, maxLength: 3 }),
  how: fc.constantFrom('all', 'all', 'all', 'all', 'reversed', 'first', 'none', 'twice'),
  /** The id of the first call, as another model would have given it. */
  id: fc.option(ID, { nil: undefined, freq: 4 }),
})

type Answered = typeof answered extends fc.Arbitrary<infer Value> ? Value : never

function withResults(message: Message, { results, how, id }: Answered): Message[] {
  let renamed = false
  const content = message.content.map((block) => {
    if (renamed || id === undefined || (block.type !== 'toolCall' && block.type !== 'invalidToolCall'))
      return block
    renamed = true
    return { ...block, id }
  })
  const all = content.flatMap((block, index): Message[] => {
    if (block.type !== 'toolCall' || block.id === undefined || block.extras?.server) return []
    const { content, status, extras, named } = results[index % results.length]!
    return [
      {
        role: 'tool',
        toolCallId: block.id,
        content,
        ...(status && { status }),
        ...(extras && { extras }),
        ...(named && { name: block.name }),
      },
    ]
  })
  const kept = {
    all,
    reversed: [...all].reverse(),
    first: all.slice(0, 1),
    none: [],
    twice: [...all, ...all.slice(0, 1)],
  }
  return [{ ...message, content }, ...kept[how as keyof typeof kept]]
}

/** Turns of a history of one provider, or a made-up turn. */
const piece: fc.Arbitrary<readonly Message[]> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({
        history: fc.constantFrom(...histories),
        from: fc.nat({ max: 4 }),
        length: fc.integer({ min: 1, max: 8 }),
      })
      .map(({ history, from, length }) => read(history[0]).slice(from, from + length)),
  },
  {
    weight: 5,
    arbitrary: fc
      .record({ asked: fc.array(said, { maxLength: 2 }), turn: fc.oneof(answer, ownAnswer), answered })
      .map(({ asked, turn, answered }) => [...asked, ...withResults(turn, answered)]),
  },
  { weight: 1, arbitrary: system.map((message) => [message]) },
)

const between: Message = { role: 'user', content: [{ type: 'text', text: 'Between' }] }

const ends: Message = { role: 'user', content: [{ type: 'text', text: 'The end?' }] }
const asks = ({ role, content }: Message): boolean =>
  role === 'user' && content.some((block) => block.type === 'text' && block.text.trim() !== '')

/** What time does to a thread. */
const change = fc.record({
  kind: fc.constantFrom('cut start', 'cut end', 'drop', 'repeat', 'interleave'),
  at: fc.nat({ max: 20 }),
})

/** Any thread, with at least one message. */
export const thread: fc.Arbitrary<readonly Message[]> = fc
  .record({
    pieces: fc.array(piece, { minLength: 1, maxLength: 3 }),
    changes: fc.array(change, { maxLength: 1 }),
    last: fc.option(said),
  })
  .map(({ pieces, changes, last }) => {
    let messages = pieces.flat()
    for (const { kind, at: place } of changes) {
      const at = messages.length === 0 ? 0 : place % messages.length
      const message = messages[at]
      if (!message) continue
      if (kind === 'cut start') messages = messages.slice(at)
      else if (kind === 'cut end') messages = messages.slice(0, at + 1)
      else if (kind === 'drop') messages = messages.filter((_, index) => index !== at)
      else if (kind === 'repeat') messages = [...messages.slice(0, at), message, ...messages.slice(at)]
      else messages = [...messages.slice(0, at + 1), between, ...messages.slice(at + 1)]
    }
    if (last) messages = [...messages, last]
    // A thread in which nobody asks anything is no request.
    return messages.some(asks) ? messages : [...messages, ends]
  })
