import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { PhaseContext } from '../deployer.ts'
import { DeployError } from '../errors.ts'

/** Gives the work the path of the upload that a revision is made of, as a file that is there until it has ended. Other sources have none. */
export async function withUpload<T>(
  { source, sourceRevisionConfig, signal, openUpload }: PhaseContext,
  work: (upload: { readonly upload?: string }) => Promise<T>,
): Promise<T> {
  if (source !== 'internal_source') return work({})
  const body = await openUpload(sourceRevisionConfig.source_tarball_path ?? '')
  if (!body) throw new DeployError('The uploaded source is not there any more: upload it again.')
  const folder = await mkdtemp(join(tmpdir(), 'agentwire-upload-'))
  try {
    const upload = join(folder, 'source.tar.gz')
    const packed = Readable.fromWeb(body as NodeReadableStream<Uint8Array>)
    await pipeline(packed, createWriteStream(upload, { mode: 0o600 }), { signal })
    return await work({ upload })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
