import { upgrading, type WebHandler, withCors } from '../http/index.ts'
import type { OptionTable } from '../options.ts'
import { checkFace, type EngineChoice, engineOf, type FaceOptions, groupOptions } from '../requests/face.ts'
import { createThreadsGroup } from './group.ts'

export interface ThreadsOptions {
  /** Such as `/api`, for `/api/threads/…`. Default: none. */
  readonly basePath?: string | undefined
}

export const THREADS_OPTIONS: OptionTable<ThreadsOptions> = { basePath: 'string' }

/** The Agent Streaming Protocol alone, over an engine or the options for one. */
export function createThreadsHandler(
  options: FaceOptions & EngineChoice & { readonly threads?: ThreadsOptions | undefined },
): WebHandler {
  checkFace('createThreadsHandler', options, { threads: THREADS_OPTIONS })
  const { engine, close: onClose } = engineOf(options)
  const { basePath } = options.threads ?? {}
  const group = createThreadsGroup({ ...groupOptions(options), engine, basePath, onClose })
  return upgrading(withCors(group, options.http?.cors))
}
