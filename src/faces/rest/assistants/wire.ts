import * as z from 'zod/mini'
import type { AgentSchemas } from '../../../agents/description.ts'
import { isUuid } from '../../../core/ids.ts'
import type { AssistantOrder, AssistantRecord } from '../../../engine/assistants/index.ts'
import { fewKeys, integer, list, nonEmpty, object, record, textOf } from '../../kit/schema.ts'

const uuid = textOf('a UUID', isUuid)

/** Keys that runs read are validated. All keys are kept. */
const config = z.looseObject({
  configurable: z.nullish(record),
  recursion_limit: z.nullish(integer(1)),
  tags: z.nullish(list(z.string(), 0, 1_000)),
  metadata: z.nullish(fewKeys),
})

const fields = {
  config: z.optional(config),
  context: z.optional(fewKeys),
  metadata: z.optional(fewKeys),
  name: z.optional(z.string()),
  description: z.optional(z.string()),
}

export const assistantCreateSchema = object({
  ...fields,
  assistant_id: z.optional(uuid),
  graph_id: nonEmpty,
  if_exists: z.optional(z.enum(['raise', 'do_nothing'])),
})

export const assistantPatchSchema = object({ ...fields, graph_id: z.optional(nonEmpty) })

const filters = {
  graph_id: z.optional(nonEmpty),
  name: z.optional(z.string()),
  metadata: z.optional(fewKeys),
}

export const assistantCountSchema = object(filters)

const page = { limit: z.optional(integer(1, 1_000)), offset: z.optional(integer(0)) }

export const assistantSearchSchema = object({
  ...filters,
  ...page,
  sort_by: z.optional(z.enum(['assistant_id', 'graph_id', 'name', 'created_at', 'updated_at'])),
  sort_order: z.optional(z.enum(['asc', 'desc'])),
  select: z.optional(
    list(
      z.enum([
        'assistant_id',
        'graph_id',
        'version',
        'config',
        'context',
        'metadata',
        'name',
        'description',
        'created_at',
        'updated_at',
      ]),
      0,
      100,
    ),
  ),
})

export const assistantVersionsSchema = object({ ...page, metadata: z.optional(fewKeys) })

export const assistantLatestSchema = object({ version: integer(1) })

export const ORDERS: Readonly<Record<string, AssistantOrder>> = {
  assistant_id: 'assistantId',
  graph_id: 'graphId',
  name: 'name',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
}

/** The SDK's `Assistant`. */
export const presentAssistant = (assistant: AssistantRecord) => ({
  ...presentVersion(assistant),
  created_at: new Date(assistant.createdAt).toISOString(),
  updated_at: new Date(assistant.updatedAt).toISOString(),
})

/** The SDK's `AssistantVersion`. Changing an assistant creates a version. */
export const presentVersion = (version: AssistantRecord) => ({
  assistant_id: version.assistantId,
  graph_id: version.graphId,
  version: version.version,
  config: version.config,
  context: version.context,
  metadata: version.metadata,
  name: version.name,
  description: version.description,
  created_at: new Date(version.updatedAt).toISOString(),
})

/** The SDK's `GraphSchema`, without the id of the graph. */
export const presentSchemas = ({ input, output, state, config }: AgentSchemas) => ({
  input_schema: input,
  output_schema: output,
  state_schema: state,
  config_schema: config,
  context_schema: config,
})
