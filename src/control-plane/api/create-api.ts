import { createHandler, type HandlerOptions, type WebHandler } from '../../http/index.ts'
import type { ControlPlaneContext } from '../context.ts'
import { documentRoute } from './document/route.ts'
import { encodeErrors } from './encode-error.ts'
import type { Operation } from './operation.ts'
import { parseJson } from './parse-json.ts'
import { routesOf } from './routes.ts'

export interface ApiOptions
  extends Pick<HandlerOptions, 'authenticate' | 'basePath' | 'maxBodyBytes' | 'onClose'> {
  readonly operations: readonly Operation[]
  readonly context: ControlPlaneContext
}

/** Serves operations: their routes, their errors and their document. */
export function createApi({ operations, context, authenticate, ...options }: ApiOptions): WebHandler {
  return createHandler({
    ...options,
    routes: [...routesOf(operations, context), documentRoute(operations)],
    authenticate,
    parseJson,
    encodeError: encodeErrors(context.onError),
    onError: context.onError,
  })
}
