import { DEFAULT_MAX_BODY_BYTES, upgrading, type WebHandler } from '../../core/http/index.ts'
import {
  createFace,
  type EngineChoice,
  type FaceOptions,
  type FaceSetup,
  standalone,
} from '../kit/create-face.ts'
import { PAGE_HEADERS } from '../kit/lists.ts'
import {
  createOpenSockets,
  createPendingCommands,
  THREADS_OPTIONS,
  type ThreadsContext,
  type ThreadsOptions,
} from './context.ts'

/** The Agent Streaming Protocol over HTTP. */
export function createThreadsGroup(setup: FaceSetup, { basePath }: ThreadsOptions = {}): WebHandler {
  const sockets = createOpenSockets()
  return createFace<ThreadsContext>(setup, {
    basePath,
    routes: [{ below: ['/threads'], load: async () => (await import('./routes.ts')).ROUTES }],
    context: {
      sockets,
      commands: createPendingCommands(),
      maxBodyBytes: setup.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
    },
    textErrors: true,
    protocolHeaders: { response: PAGE_HEADERS },
    onClose: sockets.leave,
  })
}

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
