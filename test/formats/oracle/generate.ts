/**
 * Writes `schemas/*.json`: what each provider's API takes as the input of a request, from the types that the
 * provider's own SDK publishes. Run it after an update of these SDKs:
 * `npx tsx test/formats/oracle/generate.ts`.
 *
 * The packages that only this script needs are installed in a temporary folder.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Schema {
  $ref?: string
  type?: string | readonly string[]
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly Schema[]
  allOf?: readonly Schema[]
  if?: Schema
  then?: Schema
  not?: Schema
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  additionalProperties?: boolean | Schema
  minProperties?: number
  maxProperties?: number
  contentEncoding?: string
}

const here = dirname(fileURLToPath(import.meta.url))
const modules = join(here, '../../../node_modules')

const TYPES = `
import type * as A from '@anthropic-ai/sdk/resources/messages'
import type * as B from '@anthropic-ai/sdk/resources/beta/messages'
import type { ChatCompletionMessageParam } from 'openai7/resources/chat/completions'
import type { ResponseInputItem } from 'openai7/resources/responses/responses'
import type { Content } from '@google/genai'
import type { Message, SystemContentBlock } from '@aws-sdk/client-bedrock-runtime'
import type { Message as OllamaMessage } from 'ollama'
import type { Cohere } from 'cohere-ai'
import type { ChatCompletionRequest$Outbound } from '@mistralai/mistralai/models/components'
type AnthropicBlock = A.ContentBlockParam | B.BetaMCPToolUseBlockParam | B.BetaRequestMCPToolResultBlockParam
export interface anthropic {
  messages: { role: 'user' | 'assistant'; content: string | AnthropicBlock[] }[]
  system?: string | A.TextBlockParam[]
}
export interface openaiChat { messages: ChatCompletionMessageParam[] }
export interface openaiResponses { input: string | ResponseInputItem[]; instructions?: string }
export interface gemini { contents: Content[]; systemInstruction?: Content }
export interface bedrockConverse { messages: Message[]; system?: SystemContentBlock[] }
export interface ollama { messages: OllamaMessage[] }
export interface mistral { messages: ChatCompletionRequest$Outbound['messages'] }
export interface cohere { messages: Cohere.V2ChatRequest['messages'] }
`
const NAMES = [...TYPES.matchAll(/^export interface (\w+)/gm)].map(([, name]) => name!)

const folder = mkdtempSync(join(tmpdir(), 'schemas-'))
try {
  const run = (command: string, ...args: readonly string[]) =>
    execFileSync(command, args, { cwd: folder, encoding: 'utf8' })
  writeFileSync(join(folder, 'package.json'), '{}')
  const clients = ['ollama@0.6.4', 'cohere-ai@8.1.0', '@mistralai/mistralai@2.7.0']
  run('npm', 'install', '--no-audit', 'ts-json-schema-generator@2.4.0', ...clients)
  for (const name of ['@anthropic-ai', 'openai7', '@google', '@aws-sdk'])
    symlinkSync(join(modules, name), join(folder, 'node_modules', name))
  writeFileSync(join(folder, 'types.ts'), TYPES)
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    skipLibCheck: true,
    types: [],
    lib: ['es2023', 'dom'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['types.ts'] }))
  for (const name of NAMES) {
    const options = ['--no-type-check', '--jsDoc', 'none', '--no-top-ref', '--tsconfig', 'tsconfig.json']
    const text = run('npx', 'ts-json-schema-generator', '--path', 'types.ts', '--type', name, ...options)
    const parsed = JSON.parse(text, name === 'cohere' ? toSnakeCase : undefined)
    writeFileSync(join(here, 'schemas', `${name}.json`), compact(parsed))
  }
} finally {
  rmSync(folder, { recursive: true })
}

/** Cohere's SDK has other names for fields than its API. */
function toSnakeCase(key: string, value: object): unknown {
  if (key !== 'properties' && key !== 'required') return value
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  if (Array.isArray(value)) return value.map(snake)
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [snake(name), field]))
}

function nameOf({ $ref = '' }: Schema): string {
  return decodeURIComponent($ref.replace('#/definitions/', ''))
}

/** The schema with one definition a line, without the parts that nothing refers to any more. */
function compact(generated: Schema & { definitions: Record<string, Schema>; $schema?: string }): string {
  const { definitions, $schema: _, ...top } = generated
  const at = (schema: Schema): Schema => (schema.$ref ? definitions[nameOf(schema)]! : schema)
  /** The object schemas of each union that was rewritten. */
  const members = new WeakMap<Schema, readonly Schema[]>()
  const visited = new Set<string>()

  function visit(schema: Schema): Schema {
    if (schema.properties?.BYTES_PER_ELEMENT) return { type: 'string', contentEncoding: 'base64' }
    if (schema.$ref) {
      const name = nameOf(schema)
      // The tools of a tool search are no part of a conversation.
      if (name === 'Tool') return { type: 'object' }
      if (!visited.has(name)) {
        visited.add(name)
        definitions[name] = visit(definitions[name]!)
      }
      return schema
    }
    const { anyOf, allOf, items, properties, additionalProperties: others } = schema
    if (anyOf) return union(anyOf.filter((each) => !/UnknownMember$/.test(nameOf(each))).map(visit))
    return {
      ...schema,
      ...(typeof others === 'object' && { additionalProperties: visit(others) }),
      ...(items && { items: visit(items) }),
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, field]) => [name, visit(field)]),
        ),
      }),
      ...(allOf && { allOf: allOf.map(visit) }),
    }
  }

  function typesOf(schema: Schema): readonly string[] {
    const { type, anyOf, allOf } = at(schema)
    if (type) return [type].flat() as readonly string[]
    const parts = anyOf ?? allOf?.slice(1).flatMap(({ then }) => then ?? [])
    return parts
      ? [...new Set(parts.flatMap(typesOf))]
      : ['null', 'string', 'number', 'boolean', 'array', 'object']
  }

  /** The object schemas of a union, flat, or undefined if one of them is none. */
  function objectsOf(branches: readonly Schema[]): readonly Schema[] | undefined {
    const found = branches.map((branch) => (at(branch).properties ? [branch] : members.get(at(branch))))
    return found.every((each) => each !== undefined) ? found.flat() : undefined
  }

  /** A union in which the value itself tells the branch, so that an error names what is wrong in that branch. */
  function union(branches: readonly Schema[], tags: readonly string[] = ['type', 'role']): Schema {
    if (branches.length === 1) return branches[0]!
    const types = [...new Set(branches.flatMap(typesOf))]
    if (types.length > 1 && branches.every((branch) => typesOf(branch).length === 1)) {
      const chosen = types.flatMap((type): Schema[] => {
        const own = branches.filter((branch) => typesOf(branch)[0] === type)
        return Object.keys(own[0]!).length === 1 && own[0]!.type
          ? []
          : [{ if: { type }, then: union(own, tags) }]
      })
      return { allOf: [{ type: types }, ...chosen] }
    }
    const objects = objectsOf(branches)
    if (!objects) return { anyOf: branches }
    const written = objectUnion(objects, tags)
    members.set(written, objects)
    return written
  }

  function objectUnion(objects: readonly Schema[], tags: readonly string[]): Schema {
    const valuesOf = (branch: Schema, tag: string): readonly unknown[] => {
      const found = at(branch).properties?.[tag]
      return found?.const !== undefined ? [found.const] : (found?.enum ?? [])
    }
    const tag = tags.find((tag) => new Set(objects.flatMap((each) => valuesOf(each, tag))).size > 1)
    if (tag) {
      const values = [...new Set(objects.flatMap((each) => valuesOf(each, tag)))]
      const others = tags.filter((each) => each !== tag)
      const untagged = objects.filter((each) => !at(each).required?.includes(tag))
      const has: Schema = { required: [tag] }
      return {
        allOf: [
          { type: 'object', ...(untagged.length === 0 && has), properties: { [tag]: { enum: values } } },
          ...values.map((value) => ({
            if: { ...has, properties: { [tag]: { const: value } } },
            then: union(
              objects.filter((each) => valuesOf(each, tag).includes(value)),
              others,
            ),
          })),
          ...(untagged.length > 0 ? [{ if: { not: has }, then: union(untagged, others) }] : []),
        ],
      }
    }
    const keyed = objects.map((each) => at(each))
    if (!keyed.every(({ required }) => required?.length === 1)) return { anyOf: objects }
    return {
      type: 'object',
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 1,
      properties: Object.fromEntries(
        keyed.map(({ properties, required }) => [required![0]!, properties![required![0]!]!]),
      ),
    }
  }

  const root = visit(top)
  // Unions were flattened: only what is reached now stays.
  const reached = new Set<string>()
  const reach = (schema: Schema): void => {
    JSON.stringify(schema, (key, value: string) => {
      const name = key === '$ref' ? nameOf({ $ref: value }) : undefined
      if (name && !reached.has(name)) {
        reached.add(name)
        reach(definitions[name]!)
      }
      return value
    })
  }
  reach(root)
  const lines = [...reached]
    .sort()
    .map((name) => `${JSON.stringify(name)}: ${JSON.stringify(definitions[name])}`)
  return `{"schema": ${JSON.stringify(root)},\n"definitions": {\n${lines.join(',\n')}\n}}\n`
}
