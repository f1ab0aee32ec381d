import type { Route, RouteKind } from '../../core/http/index.ts'
import { later } from '../../core/lazy.ts'
import type { FaceContext, FaceRow } from './routes.ts'

const answerRow = /* @__PURE__ */ later(() => import('./answer-row.ts'), 'answerRow')

/** Rows as routes of a handler, with what each row asks for before it runs. */
export const guardRoutes = <Context extends FaceContext>(
  context: Context,
  rows: readonly FaceRow<Context>[],
  onRequest?: () => void,
): readonly Route[] =>
  rows.map((row) => {
    const { method, path, permission } = row
    const kind: RouteKind | undefined =
      method === 'SOCKET' ? 'socket' : permission === 'public' ? 'public' : undefined
    return [
      method === 'SOCKET' ? 'GET' : method,
      path,
      (call) => {
        onRequest?.()
        return answerRow(context, row as unknown as FaceRow<FaceContext>, call)
      },
      kind,
    ]
  })
