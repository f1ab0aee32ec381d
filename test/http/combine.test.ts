import { describe, expect, test, vi } from 'vitest'
import { combine, createHandler, type HandlerOptions, json, type Route } from '../../src/core/http/index.ts'

/** A handler whose endpoints answer with the name of the handler. */
function group(name: string, rows: readonly string[], options: Partial<HandlerOptions> = {}) {
  const routes = rows.map((row) => {
    const [method, pattern] = row.split(' ') as [Route[0], string]
    return [method, pattern, () => json(name)] as const
  })
  return createHandler({ routes, ...options })
}

function request(line: string): Request {
  const [method, path] = line.split(' ')
  return new Request(`http://host${path}`, { method })
}

describe('combine', () => {
  const first = group('first', ['GET /a', 'GET /shared', 'POST /own'])
  const second = group('second', ['GET /b', 'POST /shared', 'GET /a'])
  const both = combine([first, second])

  test.each([
    ['GET /a', 'first'],
    ['GET /b', 'second'],
    ['GET /shared', 'first'],
    ['POST /shared', 'second'],
  ])('%s goes to the %s handler', async (line, name) => {
    expect(await (await both.fetch(request(line))).json()).toBe(name)
    expect(await (await both.handle(request(line)))?.json()).toBe(name)
  })

  test.each([
    ['DELETE /shared', 405, 'GET, HEAD, OPTIONS, POST'],
    ['OPTIONS /shared', 204, 'GET, HEAD, OPTIONS, POST'],
    ['PUT /own', 405, 'POST, OPTIONS'],
    ['OPTIONS /b', 204, 'GET, HEAD, OPTIONS'],
  ])('%s is %d with every method in Allow', async (line, status, allow) => {
    const response = await both.fetch(request(line))
    expect([response.status, response.headers.get('allow')]).toEqual([status, allow])
    if (status === 405) expect(await response.json()).toMatchObject({ error: 'method_not_allowed' })
  })

  test('falls through where no handler has the path', async () => {
    expect(await both.handle(request('GET /nothing'))).toBeUndefined()
    expect((await both.fetch(request('GET /nothing'))).status).toBe(404)
    expect((await combine([]).fetch(request('GET /'))).status).toBe(404)
  })

  test('says where each handler has its routes', async () => {
    const nested = combine([group('x', ['GET /x/:id', 'POST /x'], { basePath: '/base' }), both])
    const messageOf = async (basePath?: string) =>
      (await (await nested.fetch(request('GET /secret/path'), { basePath })).json()).message
    expect(await messageOf()).toBe(
      'No route matches this path. agentwire serves /base/x, /a, /shared, /own, /b here.',
    )
    expect(await messageOf('/mount')).toContain('serves /mount/x, /mount/a, /mount/shared, ')
  })

  test('has the routes of all handlers', async () => {
    expect(await both.routes()).toEqual([...(await first.routes()), ...(await second.routes())])
  })

  test('passes the context on', async () => {
    const response = await both.fetch(request('GET /mount/b'), { basePath: '/mount' })
    expect(await response.json()).toBe('second')
  })

  test('combines combined handlers', async () => {
    const nested = combine([both, group('third', ['DELETE /shared'])])
    expect(await (await nested.fetch(request('DELETE /shared'))).json()).toBe('third')
  })

  test('closes all handlers, also when one fails, and reports the failure', async () => {
    const onClose = vi.fn()
    const failing = group('x', ['GET /x'], { onClose: () => Promise.reject(new Error('stuck')) })
    const handler = combine([failing, group('y', ['GET /y'], { onClose })])
    await expect(handler.close()).rejects.toThrow('stuck')
    expect(onClose).toHaveBeenCalledOnce()
    expect((await handler.fetch(request('GET /y'))).status).toBe(503)
  })
})
