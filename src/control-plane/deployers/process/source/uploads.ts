import { createWriteStream } from 'node:fs'
import { link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { UploadStore } from '../../deployer.ts'
import { DeployError } from '../../errors.ts'
import { inMegabytes } from './tree.ts'

/** How long an upload waits for the revision that is made of it. */
const KEPT_MS = 24 * 60 * 60 * 1000

/** Whether it is a path as the control plane makes them: ids between slashes, and perhaps `.tar.gz` at the end. */
export const isUploadPath = (path: string): boolean =>
  path.length <= 200 && /^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*(\.tar\.gz)?$/.test(path)

/** The name of the file of an upload. No two paths have the same one, because ids hold no dots. */
function fileName(path: string): string {
  if (!isUploadPath(path)) throw new DeployError('This is not the path of an upload.')
  return path.replaceAll('/', '.')
}

/**
 * Uploads as files of one folder. A file is there whole or not at all. Those older than a day
 * are removed with the next upload; the deployments have what they were made of.
 */
export function fileUploads(dir: string): UploadStore {
  return {
    async put(path, body, maxBytes) {
      const file = join(dir, fileName(path))
      await mkdir(dir, { recursive: true })
      await sweep(dir)
      const part = `${file}~${crypto.randomUUID()}`
      try {
        await pipeline(
          Readable.fromWeb(body as NodeReadableStream<Uint8Array>),
          limitedTo(maxBytes),
          createWriteStream(part, { flags: 'wx', mode: 0o600 }),
        )
        await rename(part, file)
      } catch (error) {
        await rm(part, { force: true })
        throw error
      }
    },
    async has(path) {
      return isUploadPath(path) && isThere(join(dir, fileName(path)))
    },
  }
}

/** Gives the file of an upload, kept in a folder of the deployment, where only the newest one stays. */
export async function keepUpload(dir: string, kept: string, path: string): Promise<string> {
  const file = join(kept, fileName(path))
  if (await isThere(file)) return file
  const uploaded = join(dir, fileName(path))
  if (!(await isThere(uploaded)))
    throw new DeployError('The uploaded source is not there any more: upload it again.')
  await rm(kept, { recursive: true, force: true })
  await mkdir(kept, { recursive: true })
  await link(uploaded, file)
  return file
}

const isThere = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isFile(),
    () => false,
  )

function limitedTo(maxBytes: number) {
  return async function* (source: AsyncIterable<Uint8Array>) {
    let bytes = 0
    for await (const chunk of source) {
      if ((bytes += chunk.length) > maxBytes)
        throw new DeployError(`The upload is larger than ${inMegabytes(maxBytes)}.`)
      yield chunk
    }
  }
}

async function sweep(dir: string): Promise<void> {
  const old = Date.now() - KEPT_MS
  for (const name of await readdir(dir)) {
    const file = join(dir, name)
    // Another instance may sweep, too.
    const found = await stat(file).catch(() => undefined)
    if (found !== undefined && found.mtimeMs < old) await rm(file, { force: true })
  }
}
