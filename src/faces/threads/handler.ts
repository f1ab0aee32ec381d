import { upgrading, type WebHandler } from '../../core/http/index.ts'
import { standalone } from '../kit/create-face.ts'
import type { EngineChoice, FaceOptions } from '../kit/options.ts'
import { THREADS_OPTIONS, type ThreadsOptions } from './context.ts'
import { createThreadsGroup } from './group.ts'

/**
 * Creates a handler that serves only the Agent Streaming Protocol, with an engine or the options to create
 * one. Throws `AgentwireError` `invalid_argument` for unknown or invalid options.
 */
export const createThreadsHandler = (
  options: FaceOptions & EngineChoice & { readonly threads?: ThreadsOptions | undefined },
): WebHandler =>
  upgrading(
    standalone('createThreadsHandler', options, { threads: THREADS_OPTIONS }, (setup) =>
      createThreadsGroup(setup, options.threads),
    ),
  )
