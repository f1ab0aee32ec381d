import { createWriteStream } from 'node:fs'
import { link, lstat, mkdir, rm } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { createGunzip } from 'node:zlib'
import type { ParsedTarEntry } from 'modern-tar'
import { DeployError } from '../../deployer.ts'
import { type Link, limiter, makeLinks, type TreeLimits } from './tree.ts'

/**
 * Unpacks a tar.gz into a folder, which must not exist. It writes nothing outside of the folder: absolute
 * names, names with `..`, links to the outside, devices and pipes are rejected. Links are created after the
 * files. Owners, times and special modes are ignored. Rejects with a `DeployError` that says what is wrong
 * with the archive; the caller must then remove the folder.
 */
export async function unpackTarball(
  packed: Readable,
  folder: string,
  limits: TreeLimits,
  signal: AbortSignal,
): Promise<void> {
  const { addEntry, addBytes } = limiter(limits)
  const hardLinks: Link[] = []
  const links: Link[] = []
  let files = 0
  let unread: Error | undefined
  // Reads the source immediately, because it may fail at any time.
  const entries = await entriesOf(packed, addBytes, (error) => void (unread = error), signal)
  await mkdir(folder, { recursive: true }).catch(async (error) => {
    await entries.cancel().catch(() => {})
    throw error
  })
  try {
    for await (const { header, body } of entries) {
      addEntry()
      const path = entryPath(header.name)
      const target = header.linkname ?? ''
      if (header.type === 'directory') await makeFolder(folder, path)
      else if (header.type === 'file') {
        await writeEntry(folder, path, (header.mode ?? 0) & 0o100 ? 0o755 : 0o644, body, signal)
        files++
        continue
      } else if (header.type === 'symlink') links.push({ path: named(path, header.name), target })
      else if (header.type === 'link')
        hardLinks.push({ path: named(path, header.name), target: entryPath(target) })
      else
        throw new DeployError(
          `The archive contains ${JSON.stringify(header.name)}, which is not a file, folder or link (${header.type}).`,
        )
      await body.cancel()
    }
    for (const hardLink of hardLinks) await makeHardLink(folder, hardLink)
    for (const { path } of links) await makeFolder(folder, dirname(path))
  } catch (error) {
    signal.throwIfAborted()
    // A failure of the source does not concern the archive.
    throw unread ?? asDeployError(error)
  }
  await makeLinks(folder, links)
  if (files === 0) throw new DeployError('The archive contains no files.')
}

/** The size from which the ratio of unpacked to packed bytes is checked. */
const RATIO_FROM_BYTES = 16 * 1024 * 1024
/** Sources compress to about a tenth. A higher ratio than this is an attack on the disk. */
const MAX_RATIO = 200

/** `onUnread` receives the source's error, if that ends the reading. */
async function entriesOf(
  packed: Readable,
  addBytes: (count: number) => void,
  onUnread: (error: Error) => void,
  signal: AbortSignal,
): Promise<ReadableStream<ParsedTarEntry>> {
  const gunzip = createGunzip()
  let unpackedBytes = 0
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      unpackedBytes += chunk.length
      try {
        addBytes(chunk.length)
        if (unpackedBytes > RATIO_FROM_BYTES && unpackedBytes > gunzip.bytesWritten * MAX_RATIO)
          throw new DeployError(
            `The archive is compressed to less than 1/${MAX_RATIO} of its size, which source code never is.`,
          )
        done(null, chunk)
      } catch (error) {
        done(error as Error)
      }
    },
  })
  const unpacked = Readable.toWeb(counted) as NodeReadableStream<Uint8Array> as ReadableStream<Uint8Array>
  // A failure of a later stream destroys the source with the same error.
  packed.once('error', (error) => {
    if (!gunzip.errored && !counted.errored) onUnread(error)
  })
  // The reader of the entries receives its errors, through `counted`.
  pipeline(packed, gunzip, counted, { signal }).catch(() => {})
  const { createTarDecoder } = await import('modern-tar')
  return unpacked.pipeThrough(createTarDecoder({ strict: true }))
}

/** An entry's path in the folder: `''` for the folder itself. */
function entryPath(name: string): string {
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.')
  const problem =
    name.startsWith('/') || /^[A-Za-z]:/.test(name) || name.includes('\\')
      ? 'paths must be relative, with "/" as separator'
      : segments.includes('..')
        ? 'paths must not contain ".."'
        : /\p{Cc}/u.test(name) && 'names must not contain control characters'
  if (problem) throw new DeployError(`The archive contains ${JSON.stringify(name)}: ${problem}.`)
  return posix
    .join(...segments, '.')
    .replace(/^\.$/, '')
    .replace(/\/$/, '')
}

function named(path: string, name: string): string {
  if (path === '')
    throw new DeployError(`The archive contains ${JSON.stringify(name)}, which does not name a file.`)
  return path
}

const makeFolder = (folder: string, path: string) => mkdir(join(folder, path), { recursive: true })

async function writeEntry(
  folder: string,
  path: string,
  mode: number,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const to = join(folder, named(path, path))
  await makeFolder(folder, dirname(path))
  // If an archive contains a file twice, the later one counts.
  await rm(to, { force: true })
  await pipeline(
    Readable.fromWeb(body as NodeReadableStream<Uint8Array>),
    createWriteStream(to, { flags: 'wx', mode }),
    { signal },
  )
}

async function makeHardLink(folder: string, { path, target }: Link): Promise<void> {
  const found = await lstat(join(folder, target)).catch(() => undefined)
  if (!found?.isFile())
    throw new DeployError(
      `The archive contains the hard link ${JSON.stringify(path)} to ${JSON.stringify(target)}, which is not a file in the archive.`,
    )
  await makeFolder(folder, dirname(path))
  await rm(join(folder, path), { force: true })
  await link(join(folder, target), join(folder, path))
}

/** An error of zlib, the tar decoder or the file system, as a sentence. */
function asDeployError(cause: unknown): unknown {
  if (cause instanceof DeployError) return cause
  const { code, message } = cause as NodeJS.ErrnoException
  const text = sentenceOf(code, message)
  return text === undefined ? cause : new DeployError(text, { cause })
}

function sentenceOf(code: string | undefined, message: string): string | undefined {
  // The decoder's errors have no code.
  if (code === undefined) return `The archive is broken: ${message}`
  if (code === 'Z_BUF_ERROR') return 'The archive is incomplete: upload it again.'
  if (code.startsWith('Z_')) return 'The upload is not a gzip archive: upload a tar.gz.'
  if (['EEXIST', 'ENOTDIR', 'EISDIR', 'ERR_FS_EISDIR'].includes(code))
    return 'The archive contains a path both as a file and as a folder.'
  return code === 'ENAMETOOLONG' ? 'The archive contains a path that is too long.' : undefined
}
