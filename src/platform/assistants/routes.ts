import type { FaceRoute } from '../../face/routes.ts'
import type { PlatformContext } from '../context.ts'
import { getGraph, getSchemas, getSubgraphs } from './describe.ts'
import {
  count,
  deleteOne,
  getAssistant,
  latest,
  namedAssistant,
  namedGraph,
  patchOne,
  postAssistant,
  search,
  versions,
} from './records.ts'

const ONE = '/assistants/:assistant_id'

/** Assistants: graphs with a config, a context and metadata of their own, in versions. */
export const ASSISTANT_ROUTES: readonly FaceRoute<PlatformContext>[] = [
  ['POST', '/assistants', 'assistants:create', postAssistant, namedGraph],
  ['POST', '/assistants/search', 'assistants:search', search],
  ['POST', '/assistants/count', 'assistants:search', count],
  ['GET', ONE, 'assistants:read', getAssistant, namedAssistant],
  ['PATCH', ONE, 'assistants:update', patchOne, namedAssistant],
  ['DELETE', ONE, 'assistants:delete', deleteOne, namedAssistant],
  ['GET', `${ONE}/graph`, 'assistants:read', getGraph, namedAssistant],
  ['GET', `${ONE}/schemas`, 'assistants:read', getSchemas, namedAssistant],
  ['GET', `${ONE}/subgraphs`, 'assistants:read', getSubgraphs, namedAssistant],
  ['GET', `${ONE}/subgraphs/:namespace`, 'assistants:read', getSubgraphs, namedAssistant],
  ['POST', `${ONE}/versions`, 'assistants:read', versions, namedAssistant],
  ['POST', `${ONE}/latest`, 'assistants:update', latest, namedAssistant],
]
