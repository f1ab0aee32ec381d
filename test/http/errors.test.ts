import { describe, expect, test, vi } from 'vitest'
import { AgentwireError } from '../../src/core/errors.ts'
import { errorResponse, HttpError, reportError } from '../../src/core/http/index.ts'
import { ConflictError, UnavailableError } from '../../src/storage/errors.ts'
import { turns } from '../kit/wait.ts'

describe('HttpError', () => {
  test('is an AgentwireError with a status', () => {
    const cause = new Error('why')
    const error = new HttpError(418, 'teapot', 'Short and stout.', { headers: { 'x-tea': 'oolong' }, cause })
    expect(error).toBeInstanceOf(HttpError)
    expect(error).toBeInstanceOf(AgentwireError)
    expect(error).toMatchObject({
      name: 'HttpError',
      status: 418,
      code: 'teapot',
      headers: { 'x-tea': 'oolong' },
      cause,
    })
    expect(new ConflictError('other')).not.toBeInstanceOf(HttpError)
  })
})

describe('errorResponse', () => {
  test('sends an HttpError as it is, and reports nothing', async () => {
    const onError = vi.fn()
    const response = errorResponse(
      new HttpError(404, 'not_found', 'Gone.', { headers: { 'x-why': 'age' } }),
      onError,
    )
    expect(response.status).toBe(404)
    expect(response.headers.get('x-why')).toBe('age')
    expect(await response.json()).toEqual({ error: 'not_found', message: 'Gone.' })
    expect(onError).not.toHaveBeenCalled()
  })

  test('answers an unavailable storage with 503 and Retry-After in whole seconds', async () => {
    const error = new UnavailableError('10.0.0.7 refused', { written: 'unknown', retryAfterMs: 1_001 })
    const response = errorResponse(error)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('2')
    const body = await response.text()
    expect(JSON.parse(body)).toMatchObject({ error: 'unavailable' })
    expect(body).not.toContain('10.0.0.7')
  })

  test.each([
    new Error('password=hunter2'),
    new ConflictError('password=hunter2'),
    { message: 'password=hunter2', code: 'unavailable', retryAfterMs: 5 },
    'password=hunter2',
    undefined,
    null,
  ])('sends anything else as 500 without details: %s', async (error) => {
    const onError = vi.fn()
    const response = errorResponse(error, onError)
    expect(response.status).toBe(500)
    const body = await response.json()
    expect(body).toEqual({ error: 'internal_error', message: expect.any(String), id: expect.any(String) })
    expect(JSON.stringify(body)).not.toContain('hunter2')
    expect(onError).toHaveBeenCalledExactlyOnceWith(error, { id: body.id })
  })

  test('never sends a cause', async () => {
    const error = new HttpError(502, 'bad_gateway', 'The peer failed.', { cause: new Error('hunter2') })
    const text = await errorResponse(error).text()
    expect(text).not.toContain('hunter2')
    expect(text).not.toContain('.ts')
  })
})

describe('reportError', () => {
  test('survives a reporter that throws or rejects', async () => {
    const throwing = () => {
      throw new Error('reporter')
    }
    const rejecting = () => Promise.reject(new Error('reporter'))
    expect(reportError('x', throwing)).not.toBe(reportError('x', rejecting))
    // An unhandled rejection would fail the run at the next turn of the loop.
    await turns()
  })
})
