import { standalone } from '../face/create-face.ts'
import type { EngineChoice, FaceOptions } from '../face/options.ts'
import { upgrading, type WebHandler } from '../http/index.ts'
import { THREADS_OPTIONS, type ThreadsOptions } from './context.ts'
import { createThreadsGroup } from './group.ts'

/** The Agent Streaming Protocol alone, over an engine or the options for one. */
export const createThreadsHandler = (
  options: FaceOptions & EngineChoice & { readonly threads?: ThreadsOptions | undefined },
): WebHandler =>
  upgrading(
    standalone('createThreadsHandler', options, { threads: THREADS_OPTIONS }, (setup) =>
      createThreadsGroup(setup, options.threads),
    ),
  )
