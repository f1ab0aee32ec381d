import type { AgentSchemas } from '../../agents/description.ts'
import type { AssistantOrder, AssistantRecord } from '../../assistants/index.ts'
import {
  list,
  nonEmpty,
  object,
  oneOf,
  optional,
  record,
  refuse,
  type Schema,
  string,
  whole,
} from '../../face/schema.ts'
import { isUuid } from '../../ids.ts'

const uuid: Schema<string> = (value, path = '') => (isUuid(value) ? value : refuse(path, 'a UUID'))

const knownConfig = object({
  configurable: optional(record),
  recursion_limit: optional(whole(1)),
  tags: optional(list(string, 0, 1_000)),
  metadata: optional(record),
})

/** The keys that runs read are checked, and all are kept. */
const config: Schema<AssistantRecord['config']> = (value, path) => {
  const given = record(value, path)
  knownConfig(given, path)
  return given
}

const fields = {
  config: optional(config),
  context: optional(record),
  metadata: optional(record),
  name: optional(string),
  description: optional(string),
}

export const assistantCreateSchema = object({
  ...fields,
  assistant_id: optional(uuid),
  graph_id: nonEmpty,
  if_exists: optional(oneOf('raise', 'do_nothing')),
})

export const assistantPatchSchema = object({ ...fields, graph_id: optional(nonEmpty) })

const filters = { graph_id: optional(nonEmpty), name: optional(string), metadata: optional(record) }

export const assistantCountSchema = object(filters)

const page = { limit: optional(whole(1, 1_000)), offset: optional(whole(0)) }

export const assistantSearchSchema = object({
  ...filters,
  ...page,
  sort_by: optional(oneOf('assistant_id', 'graph_id', 'name', 'created_at', 'updated_at')),
  sort_order: optional(oneOf('asc', 'desc')),
  select: optional(
    list(
      oneOf(
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
      ),
      0,
      100,
    ),
  ),
})

export const assistantVersionsSchema = object({ ...page, metadata: optional(record) })

export const assistantLatestSchema = object({ version: whole(1) })

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

/** The SDK's `AssistantVersion`. A version is made when its assistant is changed. */
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
