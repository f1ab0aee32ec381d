import { expect, test } from 'vitest'
import * as hooks from '../../src/clients/react/index.ts'

// Outside of a component the hooks of React throw: these are called as a render of Next's server calls them, with another React.
test('on a server the hooks give what a page begins with, without React', async () => {
  const client = hooks.createAgentClient({ apiUrl: 'http://127.0.0.1:1' })
  expect(hooks.useThreads(client)).toMatchObject({ entries: [], isLoaded: false })
  expect(hooks.useThread(client, 't')).toBeUndefined()
  expect(hooks.useReachable(client)).toBe(true)
  const { stream, isRunning, isAsking, stop } = hooks.useAgentStream(client, { threadId: 't' })
  expect([isRunning, isAsking, stream.messages, stream.isThreadLoading]).toEqual([false, false, [], true])
  expect(hooks.useAgentStream(client, { threadId: undefined }).stream.isThreadLoading).toBe(false)
  await expect(stop()).rejects.toThrow('during server rendering')
  const { open, openNew, onThreadId, ...opened } = hooks.useOpenThread('t')
  for (const call of [open, openNew, onThreadId]) call('u')
  expect(opened).toEqual({ threadId: 't', key: 0 })
  expect(hooks.useQueue(stream)).toEqual([])
  expect(hooks.useUploads().contentOf('Hi')).toBe('Hi')
})
