import { HttpError, json } from '../../../core/http/index.ts'
import { describeAssistant } from '../../../engine/assistants/index.ts'
import type { FaceCall } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'
import { assistantIdOf } from './records.ts'
import { presentSchemas } from './wire.ts'

/** `GET /assistants/{assistant_id}/graph?xray`. */
export async function getGraph(context: PlatformContext, call: FaceCall): Promise<Response> {
  const xray = xrayOf(call.url.searchParams.get('xray'))
  const { description } = await describe(context, call)
  return json(await description.drawing({ xray }))
}

/** `GET /assistants/{assistant_id}/schemas`. */
export async function getSchemas(context: PlatformContext, call: FaceCall): Promise<Response> {
  const { graphId, description } = await describe(context, call)
  return json({ graph_id: graphId, ...presentSchemas(await description.schemas()) })
}

/** `GET /assistants/{assistant_id}/subgraphs[/{namespace}]?recurse`. */
export async function getSubgraphs(context: PlatformContext, call: FaceCall): Promise<Response> {
  const { description } = await describe(context, call)
  const recurse = isTrue(call.url.searchParams.get('recurse'))
  return json(await description.subgraphs({ namespace: call.params.namespace, recurse }))
}

const describe = ({ engine }: PlatformContext, call: FaceCall) =>
  describeAssistant(engine, call.principal, assistantIdOf(call))

const isTrue = (text: string | null): boolean => text === 'true' || text === '1'

/** `true`, `false`, or the number of subgraph levels. */
function xrayOf(text: string | null): boolean | number {
  if (text === null || text === '' || text === 'false' || text === 'False') return false
  if (text === 'true' || text === 'True') return true
  const levels = Number(text)
  if (Number.isSafeInteger(levels) && levels >= 0) return levels
  throw new HttpError(400, 'invalid_argument', 'xray: expected true, false or a number of levels.')
}
