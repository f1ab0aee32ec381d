import { afterEach, expect, it, vi } from 'vitest'
import { loadPatiently } from '../../examples/chat/lib/later.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

it('loads a part once more when the server answers', async () => {
  const asked: string[] = []
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url)
    return new Response()
  })
  const load = vi.fn().mockRejectedValueOnce(new Error('ChunkLoadError')).mockResolvedValueOnce('the part')
  expect(await loadPatiently(load)).toBe('the part')
  expect(asked).toEqual(['/ok'])
})

it('fails where the server answers but no longer has the part', async () => {
  vi.stubGlobal('fetch', async () => new Response())
  const load = vi.fn().mockRejectedValue(new Error('ChunkLoadError'))
  await expect(loadPatiently(load)).rejects.toThrow('ChunkLoadError')
  expect(load).toHaveBeenCalledTimes(2)
})
