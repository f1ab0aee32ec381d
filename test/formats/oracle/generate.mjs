/**
 * Writes `schemas/*.json`: what each provider's API takes as the input of a request, from the types that the
 * provider's own SDK publishes. Run it after an update of these SDKs: `node test/formats/oracle/generate.mjs`.
 *
 * The packages that only this script needs are installed in a temporary folder.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

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
const NAMES = [...TYPES.matchAll(/^export interface (\w+)/gm)].map(([, name]) => name)

const folder = mkdtempSync(join(tmpdir(), 'schemas-'))
try {
  const run = (command, ...args) => execFileSync(command, args, { cwd: folder, encoding: 'utf8' })
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
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...compilerOptions, lib: ['es2023', 'dom'] }, files: ['types.ts'] }),
  )
  for (const name of NAMES) {
    const options = ['--no-type-check', '--jsDoc', 'none', '--no-top-ref', '--tsconfig', 'tsconfig.json']
    const text = run('npx', 'ts-json-schema-generator', '--path', 'types.ts', '--type', name, ...options)
    writeFileSync(
      join(here, 'schemas', `${name}.json`),
      compact(JSON.parse(name === 'cohere' ? toSnakeCase(text) : text)),
    )
  }
} finally {
  rmSync(folder, { recursive: true })
}

/** Cohere's SDK has other names for fields than its API. */
function toSnakeCase(text) {
  return JSON.stringify(JSON.parse(text), (key, value) => {
    const named = key === 'properties' || key === 'required'
    if (!named) return value
    const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    if (Array.isArray(value)) return value.map(snake)
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [snake(name), field]))
  })
}

/** The schema with one definition a line, without the parts that no definition refers to any more. */
function compact({ definitions, $schema: _, ...top }) {
  for (const name in definitions) if (name.endsWith('$UnknownMember')) delete definitions[name]
  const resolve = ({ $ref }) => definitions[nameOf($ref)]
  const used = new Set()
  const visit = (schema) => {
    if (Array.isArray(schema)) return schema.map(visit)
    if (typeof schema !== 'object' || schema === null) return schema
    if (schema.properties?.BYTES_PER_ELEMENT) return { type: 'string', contentEncoding: 'base64' }
    if (schema.$ref) {
      const name = nameOf(schema.$ref)
      if (!definitions[name]) return false
      // The tools of a tool search are no part of a conversation.
      if (name === 'Tool') return { type: 'object' }
      if (!used.has(name)) {
        used.add(name)
        definitions[name] = visit(definitions[name])
      }
      return schema
    }
    if (!schema.anyOf)
      return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, visit(value)]))
    return union(schema.anyOf.map(visit).filter((branch) => branch !== false))
  }
  const typesOf = (schema) => {
    const at = schema.$ref ? resolve(schema) : schema
    if (at.type) return [at.type].flat()
    const parts = at.anyOf ?? at.allOf?.slice(1).map(({ then }) => then)
    return parts
      ? [...new Set(parts.flatMap(typesOf))]
      : ['null', 'string', 'number', 'boolean', 'array', 'object']
  }
  /** The object schemas of each union that was rewritten. */
  const members = new WeakMap()
  /** The object schemas of a union, flat, or undefined if one of them is none. */
  const objectsOf = (branches) => {
    const found = branches.flatMap((branch) => {
      const at = branch.$ref ? resolve(branch) : branch
      if (at.properties) return [branch]
      return members.get(at) ?? [undefined]
    })
    return found.includes(undefined) ? undefined : found
  }
  /** A union in which the value itself tells the branch, so that an error names what is wrong in that branch. */
  const union = (branches, tags = ['type', 'role']) => {
    if (branches.length === 1) return branches[0]
    const types = [...new Set(branches.flatMap(typesOf))]
    if (types.length > 1 && branches.every((branch) => typesOf(branch).length === 1))
      return {
        allOf: [
          { type: types },
          ...types.flatMap((type) => {
            const own = branches.filter((branch) => typesOf(branch)[0] === type)
            return Object.keys(own[0]).length === 1 && own[0].type
              ? []
              : [{ if: { type }, then: union(own, tags) }]
          }),
        ],
      }
    const objects = objectsOf(branches)
    if (!objects) return { anyOf: branches }
    const written = objectUnion(objects, tags)
    members.set(written, objects)
    return written
  }
  const objectUnion = (objects, tags) => {
    const tagOf = (branch, tag) => {
      const found = (branch.$ref ? resolve(branch) : branch).properties[tag]
      return found?.const ? [found.const] : found?.enum
    }
    const tag = tags.find((tag) => new Set(objects.flatMap((each) => tagOf(each, tag) ?? [])).size > 1)
    if (tag) {
      const values = [...new Set(objects.flatMap((each) => tagOf(each, tag) ?? []))]
      const others = tags.filter((each) => each !== tag)
      const untagged = objects.filter((each) => !(each.$ref ? resolve(each) : each).required?.includes(tag))
      const has = { required: [tag] }
      return {
        allOf: [
          {
            type: 'object',
            ...(untagged.length === 0 && has),
            properties: { [tag]: { enum: values } },
          },
          ...values.map((value) => ({
            if: { ...has, properties: { [tag]: { const: value } } },
            then: union(
              objects.filter((each) => tagOf(each, tag)?.includes(value)),
              others,
            ),
          })),
          ...(untagged.length > 0 ? [{ if: { not: has }, then: union(untagged, others) }] : []),
        ],
      }
    }
    const keyed = objects.map((each) => (each.$ref ? resolve(each) : each))
    if (keyed.every(({ required }) => required?.length === 1))
      return {
        type: 'object',
        additionalProperties: false,
        minProperties: 1,
        maxProperties: 1,
        properties: Object.assign(
          {},
          ...keyed.map(({ properties, required: [key] }) => ({ [key]: properties[key] })),
        ),
      }
    return { anyOf: objects }
  }
  const root = visit(top)
  // Unions were flattened: only what is reached now stays.
  const reached = new Set()
  const reach = (schema) =>
    JSON.stringify(schema, (key, value) => {
      const name = key === '$ref' ? nameOf(value) : undefined
      if (name && !reached.has(name)) {
        reached.add(name)
        reach(definitions[name])
      }
      return value
    })
  reach(root)
  const lines = [...reached]
    .sort()
    .map((name) => `${JSON.stringify(name)}: ${JSON.stringify(definitions[name])}`)
  return `{"schema": ${JSON.stringify(root)},\n"definitions": {\n${lines.join(',\n')}\n}}\n`
}

function nameOf(ref) {
  return decodeURIComponent(ref.replace('#/definitions/', ''))
}
