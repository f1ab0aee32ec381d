import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { UploadStore } from '../../../src/control-plane/deployers/deployer.ts'
import { DeployError } from '../../../src/control-plane/deployers/errors.ts'
import { fileUploads } from '../../../src/control-plane/deployers/process/source/uploads.ts'

let dir: string
let uploads: UploadStore
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), 'agentwire-uploads-')), 'uploads')
  uploads = fileUploads(dir)
})
afterEach(() => rm(join(dir, '..'), { recursive: true, force: true }))

const MEGABYTE = 1024 * 1024

/** So many bytes, made as they are read, and their digest. */
function generated(bytes: number) {
  const hash = createHash('sha256')
  let left = bytes
  let pulls = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = new Uint8Array(Math.min(left, MEGABYTE)).fill(++pulls)
      hash.update(chunk)
      left -= chunk.length
      controller.enqueue(chunk)
      if (left === 0) controller.close()
    },
  })
  return { body, digest: () => hash.digest('hex'), pulls: () => pulls }
}

test('a file of 250 MB is stored without being held in memory', async () => {
  const { body, digest } = generated(250 * MEGABYTE)
  const before = process.memoryUsage().rss
  let highest = 0
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().rss)
  }, 20)
  await uploads.put('upload_1-a', body, 250 * MEGABYTE)
  clearInterval(timer)
  expect(highest - before).toBeLessThan(120 * MEGABYTE)
  const stored = createHash('sha256')
  for await (const chunk of createReadStream(join(dir, 'upload_1-a'))) stored.update(chunk)
  expect(stored.digest('hex')).toBe(digest())
  expect(await uploads.has('upload_1-a')).toBe(true)
}, 60_000)

test('a longer file is refused while it is read, and nothing of it stays', async () => {
  const { body, pulls } = generated(250 * MEGABYTE)
  await expect(uploads.put('large', body, 2 * MEGABYTE)).rejects.toThrow(
    new DeployError('The upload is larger than 2.1 MB.'),
  )
  expect(pulls()).toBeLessThan(10)
  expect(await uploads.has('large')).toBe(false)
  expect(await readdir(dir)).toEqual([])
})

test('a client that goes away leaves nothing', async () => {
  let pulls = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (++pulls === 5) controller.error(new Error('The connection was closed.'))
      else controller.enqueue(new Uint8Array(1000))
    },
  })
  await expect(uploads.put('half', body, MEGABYTE)).rejects.toThrow('The connection was closed.')
  expect(await readdir(dir)).toEqual([])
})

test('a file is replaced as a whole, and an earlier one stays where the new one fails', async () => {
  await uploads.put('same', new Blob(['first']).stream(), 100)
  await expect(uploads.put('same', new Blob(['x'.repeat(101)]).stream(), 100)).rejects.toThrow(DeployError)
  expect(await readFile(join(dir, 'same'), 'utf8')).toBe('first')
  await Promise.all([
    uploads.put('same', new Blob(['second']).stream(), 100),
    uploads.put('same', new Blob(['second']).stream(), 100),
  ])
  expect(await readFile(join(dir, 'same'), 'utf8')).toBe('second')
  expect((await stat(join(dir, 'same'))).mode & 0o777).toBe(0o600)
})

test('the paths that the control plane makes name different files of one folder', async () => {
  const paths = ['uploads/a-1/b-2.tar.gz', 'uploads/a-1/b-2', 'uploads/a-1-b-2', 'uploads/a_1/b-2']
  for (const path of paths) await uploads.put(path, new Blob([path]).stream(), 100)
  expect((await readdir(dir)).sort()).toEqual([
    'uploads.a-1-b-2',
    'uploads.a-1.b-2',
    'uploads.a-1.b-2.tar.gz',
    'uploads.a_1.b-2',
  ])
  for (const path of paths) expect(await uploads.has(path)).toBe(true)
})

test.each([
  '',
  '.',
  '..',
  '../evil',
  '/etc/passwd',
  'a/../b',
  'a//b',
  'a/',
  'a/.tar.gz',
  '.tar.gz',
  'a.tar.gz/b',
  'a.b',
  'a\\b',
  'a\0b',
  'a\nb',
  'é',
  'x'.repeat(201),
])('the path %j is refused', async (path) => {
  await expect(uploads.put(path, new Blob(['x']).stream(), 100)).rejects.toThrow(
    new DeployError('This is not the path of an upload.'),
  )
  expect(await uploads.has(path)).toBe(false)
})

test('what is older than a day is removed with the next upload', async () => {
  await uploads.put('old', new Blob(['x']).stream(), 100)
  await uploads.put('young', new Blob(['x']).stream(), 100)
  const hours = (count: number) => new Date(Date.now() - count * 60 * 60 * 1000)
  await utimes(join(dir, 'old'), hours(25), hours(25))
  await utimes(join(dir, 'young'), hours(23), hours(23))
  await uploads.put('new', new Blob(['x']).stream(), 100)
  expect((await readdir(dir)).sort()).toEqual(['new', 'young'])
})
