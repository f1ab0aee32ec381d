import { describe, expect, test } from 'vitest'
import { AgentInputError } from '../../../src/agents/errors.ts'
import { AgentwireError } from '../../../src/core/errors.ts'
import { HttpError } from '../../../src/core/http/index.ts'
import { RunError } from '../../../src/engine/index.ts'
import { A2A_ERROR_CODES, A2AError, encodeA2AError } from '../../../src/faces/a2a/errors.ts'
import { request, serve, TASK, V1_MESSAGE, V03_MESSAGE } from '../fake-operations.ts'

const get = (id: unknown) => request('GetTask', { id: 't1' }, id)
const WRITTEN_TASK = {
  id: 't1',
  contextId: 'c1',
  status: { state: 'TASK_STATE_WORKING', timestamp: '2026-01-02T03:04:05.006Z' },
}

describe('the envelope', () => {
  test.each([1, 0, -7, Number.MAX_SAFE_INTEGER, 'x', '', '1', 'é\u2028"\\', 'i'.repeat(1_024), null])(
    'the id %j is repeated exactly, in results and in errors',
    async (id) => {
      const { post } = serve()
      const answer = await post(get(id))
      expect([answer.status, answer.body]).toEqual([200, { jsonrpc: '2.0', id, result: WRITTEN_TASK }])
      const refusal = await post(request('GetTask', {}, id))
      expect([refusal.status, refusal.body.id, refusal.body.error.code]).toEqual([200, id, -32602])
    },
  )

  test.each([
    ['{"jsonrpc": "2.0", "method": "GetTask", "params": {"id": "t1"}', -32700],
    ['', -32700],
    ['hello', -32700],
    [new Uint8Array([0x22, 0xff, 0x22]), -32700],
    ['[]', -32600],
    [[get(1), get(2)], -32600],
    ['null', -32600],
    ['7', -32600],
    ['"GetTask"', -32600],
    ['{}', -32600],
    [{ ...get(1), id: 1.5 }, -32600],
    ['{"jsonrpc":"2.0","id":12345678901234567890,"method":"GetTask","params":{"id":"t1"}}', -32600],
    [{ ...get(1), id: { bad: 'type' } }, -32600],
    [{ ...get(1), id: [1] }, -32600],
    [{ ...get(1), id: true }, -32600],
    [{ ...get(1), id: 'i'.repeat(1_025) }, -32600],
    [`${'['.repeat(101)}${']'.repeat(101)}`, -32600],
    [{ jsonrpc: 'aaa', method: 'GetTask', params: {} }, -32600],
  ])('%j is refused without an id: %i', async (body, code) => {
    const { post, asked, refused, reported } = serve()
    const answer = await post(body)
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        jsonrpc: '2.0',
        id: null,
        error: { code, message: expect.stringMatching(/\.$/), data: expect.any(Array) },
      },
    ])
    expect([asked, reported]).toEqual([[], []])
    expect(refused).toMatchObject([{ type: 'request.refused', status: 200, route: '/a2a/:assistant_id' }])
  })

  test.each([
    [{ ...get(7), jsonrpc: '1.0' }, -32600],
    [{ ...get(7), jsonrpc: 2 }, -32600],
    [{ ...get(7), jsonrpc: undefined }, -32600],
    [{ ...get(7), method: undefined }, -32600],
    [{ ...get(7), method: '' }, -32600],
    [{ ...get(7), method: ['GetTask'] }, -32600],
    [{ ...get(7), method: 'nonexistent/method' }, -32601],
    [{ ...get(7), method: 'getTask' }, -32601],
    [{ ...get(7), method: '__proto__' }, -32601],
    [{ ...get(7), method: 'tasks/list' }, -32601],
    [{ ...get(7), params: undefined }, -32602],
    [{ ...get(7), params: null }, -32602],
    [{ ...get(7), params: ['t1'] }, -32602],
    [{ ...get(7), params: 't1' }, -32602],
    [request('SendMessage', { '': 'not_a_dict' }, 7), -32602],
  ])('%j is refused with its id: %i', async (body, code) => {
    const { post, asked } = serve()
    const answer = await post(body)
    expect([answer.status, answer.body.id, answer.body.error.code]).toEqual([200, 7, code])
    expect(asked).toEqual([])
  })

  test.each([
    ['message/send', -32602],
    ['SendMessage', -32600],
    ['tasks/cancel', -32600],
    ['SendStreamingMessage', -32600],
    ['no/such', -32601],
    ['GetTask', -32600],
  ])(
    'a request of %s without an id is refused with the id null and %i, and does nothing',
    async (method, code) => {
      const { post, asked } = serve()
      const { id: _, ...unnamed } = request(method, { message: V1_MESSAGE, id: 't1' })
      const { status, body } = await post(unnamed)
      expect([status, body.id, body.error.code, asked]).toEqual([200, null, code, []])
      if (code === -32600) expect(body.error.message).toContain('id')
    },
  )

  test('members of its own that a client adds are ignored, and metadata is handed on when it is an object', async () => {
    const { post, asked } = serve()
    for (const metadata of [{ thread_id: 'th' }, 'th', null, ['th']])
      expect((await post({ ...get(1), metadata, extra: 1 })).status).toBe(200)
    expect(asked.map(({ call }) => call.metadata)).toEqual([
      { thread_id: 'th' },
      undefined,
      undefined,
      undefined,
    ])
  })

  test('metadata that would change a prototype do not', async () => {
    const { post, asked } = serve()
    const body = JSON.stringify({ ...get(1), metadata: 0 }).replace(
      '"metadata":0',
      '"metadata":{"__proto__":{"a":1},"b":2}',
    )
    expect((await post(body)).status).toBe(200)
    expect(asked[0]!.call.metadata).toEqual({ b: 2 })
    expect(Object.hasOwn(asked[0]!.call.metadata!, '__proto__')).toBe(false)
  })

  test('a body over the limit is a JSON-RPC error with HTTP 413', async () => {
    const { post, asked } = serve({}, { maxBodyBytes: 100 })
    const answer = await post(request('SendMessage', { message: V1_MESSAGE, padding: 'x'.repeat(200) }))
    expect([answer.status, answer.body.id, answer.body.error.code]).toEqual([413, null, -32600])
    expect(answer.body.error.message).toContain('100 bytes')
    expect(asked).toEqual([])
  })
})

describe('A2A-Version', () => {
  test.each([
    [undefined, 200],
    ['', 200],
    ['1.0', 200],
    ['1.0.7', 200],
    ['0.3', 200],
    ['0.3.0', 200],
    [' 1.0 ', 200],
  ])('%j is taken with the methods of either version', async (version, status) => {
    const { post } = serve()
    const headers = version === undefined ? undefined : { headers: { 'a2a-version': version } }
    for (const method of ['GetTask', 'tasks/get']) {
      const { body, status: given } = await post(request(method, { id: 't1' }), headers)
      expect([given, body.result.id, 'kind' in body.result]).toEqual([status, 't1', method === 'tasks/get'])
    }
  })

  test.each([
    '99.0',
    '1',
    '1.1',
    '0.2',
    '2.0',
    '0.30',
    'v1.0',
    '1.0, 0.3',
    '1.0.x',
    'latest',
    '1.0-beta',
    '__proto__',
  ])('%j is not offered', async (version) => {
    const { post, asked } = serve()
    const query = `?A2A-Version=${encodeURIComponent(version)}`
    for (const init of [{ headers: { 'a2a-version': version } }, { query }]) {
      for (const method of ['GetTask', 'tasks/get', 'unknown']) {
        const { status, body } = await post(request(method, { id: 't1' }, 'v'), init)
        expect([status, body.id, body.error.code]).toEqual([200, 'v', -32009])
      }
    }
    expect(asked).toEqual([])
  })

  test('chooses whose methods the error of an unknown one names', async () => {
    const { post } = serve()
    const told = async (init?: Parameters<typeof post>[1]) =>
      (await post(request('tasks/list'), init)).body.error.message
    expect(await told()).toContain('A2A 0.3 has message/send')
    expect(await told({ headers: { 'a2a-version': '0.3' } })).toContain('A2A 0.3 has message/send')
    expect(await told({ headers: { 'a2a-version': '1.0' } })).toContain('A2A 1.0 has SendMessage')
    expect(await told({ query: '?A2A-Version=1.0' })).toContain('A2A 1.0 has SendMessage')
  })
})

describe('every method reaches its operation and answers in its own shape', () => {
  const task03 = { kind: 'task', ...WRITTEN_TASK, status: { ...TASK.status } }
  const push03 = {
    taskId: 't1',
    pushNotificationConfig: { id: 'p1', url: 'https://example.com/hook', token: 'k' },
  }
  const push1 = { id: 'p1', taskId: 't1', url: 'https://example.com/hook', token: 'k' }
  const canceled = { ...WRITTEN_TASK, status: { ...WRITTEN_TASK.status, state: 'TASK_STATE_CANCELED' } }
  test.each([
    ['message/send', { message: V03_MESSAGE }, 'send', task03],
    ['tasks/get', { id: 't1' }, 'getTask', task03],
    [
      'tasks/cancel',
      { id: 't1' },
      'cancelTask',
      { ...task03, status: { ...TASK.status, state: 'canceled' } },
    ],
    ['tasks/pushNotificationConfig/set', push03, 'setPush', push03],
    ['tasks/pushNotificationConfig/get', { id: 't1' }, 'getPush', push03],
    ['tasks/pushNotificationConfig/list', { id: 't1' }, 'listPush', [push03]],
    ['tasks/pushNotificationConfig/delete', { id: 't1', pushNotificationConfigId: 'p1' }, 'deletePush', null],
    ['agent/getAuthenticatedExtendedCard', undefined, 'extendedCard', { name: 'Helper' }],
    ['SendMessage', { message: V1_MESSAGE }, 'send', { task: WRITTEN_TASK }],
    ['GetTask', { id: 't1' }, 'getTask', WRITTEN_TASK],
    ['ListTasks', {}, 'listTasks', { tasks: [WRITTEN_TASK], nextPageToken: '', pageSize: 50, totalSize: 1 }],
    ['CancelTask', { id: 't1' }, 'cancelTask', canceled],
    ['CreateTaskPushNotificationConfig', push1, 'setPush', push1],
    ['GetTaskPushNotificationConfig', { taskId: 't1', id: 'p1' }, 'getPush', push1],
    ['ListTaskPushNotificationConfigs', { taskId: 't1' }, 'listPush', { configs: [push1] }],
    ['DeleteTaskPushNotificationConfig', { taskId: 't1', id: 'p1' }, 'deletePush', null],
    ['GetExtendedAgentCard', undefined, 'extendedCard', { name: 'Helper' }],
  ])('%s', async (method, params, operation, result) => {
    const { post, asked } = serve()
    const { id: _, ...body } = request(method, params)
    const answer = await post({ ...body, id: 'r' }, { headers: { 'last-event-id': '7' } })
    expect([answer.status, answer.body]).toEqual([200, { jsonrpc: '2.0', id: 'r', result }])
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({
      operation,
      call: {
        assistantId: 'helper',
        dialect: { version: /^[A-Z]/.test(method) ? '1.0' : '0.3' },
        lastEventId: '7',
      },
    })
  })
})

describe('errors', () => {
  const failing = (error: unknown) =>
    serve({
      getTask: async () => {
        throw error
      },
    })

  test.each(Object.entries(A2A_ERROR_CODES))('%s has the code %i and says why', async (code, number) => {
    const details = { taskId: 't1' }
    const { post, reported } = failing(new A2AError(code as keyof typeof A2A_ERROR_CODES, 'Why.', details))
    for (const method of ['GetTask', 'tasks/get']) {
      const { status, body } = await post(request(method, { id: 't1' }))
      expect([status, body.error]).toEqual([
        200,
        {
          code: number,
          message: 'Why.',
          data: [
            {
              '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
              reason: code.toUpperCase(),
              domain: 'a2a-protocol.org',
              metadata: details,
            },
          ],
        },
      ])
    }
    expect(reported).toEqual([])
  })

  test('wrong params are also told by their field', async () => {
    const { post } = serve()
    const { body } = await post(request('SendMessage', { message: { ...V1_MESSAGE, parts: [{ text: 1 }] } }))
    const field = 'params.message.parts[0].text'
    const message = `${field}: expected a string.`
    expect(body.error).toEqual({
      code: -32602,
      message,
      data: [
        expect.objectContaining({ reason: 'INVALID_PARAMS', metadata: { field } }),
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [{ field, description: message }],
        },
      ],
    })
  })

  test.each([
    [new RunError('no_such_thread', 'M.'), 200, -32001],
    [new RunError('no_such_run', 'M.'), 200, -32001],
    [new RunError('thread_busy', 'M.'), 200, -32004],
    [new RunError('not_supported', 'M.'), 200, -32004],
    [new RunError('invalid_argument', 'M.'), 200, -32602],
    [new RunError('no_such_interrupt', 'M.'), 200, -32602],
    [new RunError('key_reused', 'M.'), 200, -32602],
    [new RunError('closing', 'M.'), 503, -32603],
    [new AgentInputError('M.'), 200, -32602],
    [new HttpError(400, 'invalid_argument', 'M.'), 200, -32602],
    [new HttpError(422, 'unprocessable', 'M.'), 200, -32602],
  ])('what the engine throws is told by its code: %#', async (error, status, code) => {
    const { post, reported } = failing(error)
    const answer = await post(get(1))
    expect([answer.status, answer.body.error.code, answer.body.error.message]).toEqual([status, code, 'M.'])
    expect(answer.response.headers.get('retry-after')).toBe(status === 503 ? '1' : null)
    expect(reported).toEqual([])
  })

  test('an unknown error is reported, and the client is given its reference and nothing of its cause', async () => {
    const error = new Error('postgres://user:secret@host')
    const { post, reported } = failing(error)
    const answer = await post(get(1))
    expect([answer.status, answer.body.error.code]).toEqual([200, -32603])
    expect(answer.body.error.message).toMatch(/Reference: [0-9a-f-]{36}\.$/)
    expect(answer.text).not.toContain('secret')
    expect(reported).toEqual([error])
  })

  test('an unavailable storage is HTTP 503 with the time to wait, and is reported', async () => {
    class Unavailable extends AgentwireError {
      readonly retryAfterMs = 2_500
    }
    const { post, reported } = failing(new Unavailable('unavailable', 'redis at 10.0.0.1 is down'))
    const answer = await post(get(1))
    expect([answer.status, answer.body.error.code]).toEqual([503, -32603])
    expect(answer.response.headers.get('retry-after')).toBe('3')
    expect(answer.text).not.toContain('10.0.0.1')
    expect(reported).toHaveLength(1)
  })

  test.each([401, 403, 404])('HTTP %i stays plain HTTP', async (status) => {
    const { post } = failing(new HttpError(status, 'refused', 'No.', { headers: { 'x-why': 'y' } }))
    const answer = await post(get(1))
    expect([answer.status, answer.body]).toEqual([status, { error: 'refused', message: 'No.' }])
    expect(answer.response.headers.get('x-why')).toBe('y')
  })

  test('a caller without credentials is 401 with the scheme to use', async () => {
    const { post, asked } = serve({}, { authenticate: () => null })
    const answer = await post(get(1))
    expect([answer.status, answer.response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(asked).toEqual([])
  })

  test('outside of JSON-RPC they are a code, a message and a status', async () => {
    const told = async (error: unknown) => {
      const response = encodeA2AError(error)
      return response && [response.status, await response.json()]
    }
    expect(await told(new A2AError('task_not_found', 'M.'))).toEqual([
      404,
      { error: 'task_not_found', message: 'M.' },
    ])
    expect(await told(new A2AError('invalid_params', 'M.'))).toEqual([
      400,
      { error: 'invalid_params', message: 'M.' },
    ])
    expect(await told(new RunError('closing', 'M.'))).toMatchObject([
      503,
      { error: 'closing', message: 'M.' },
    ])
    expect(await told(new HttpError(404, 'x', 'M.'))).toBeUndefined()
    expect(await told(new Error('M.'))).toBeUndefined()
  })

  test('no extension is said to be active', async () => {
    const { post } = serve()
    const headers = { 'a2a-extensions': 'https://example.com/e', 'x-a2a-extensions': 'https://example.com/e' }
    const { response } = await post(get(1), { headers })
    expect([...response.headers.keys()].filter((name) => name.includes('extensions'))).toEqual([])
  })
})
