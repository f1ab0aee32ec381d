import { AgentwireError } from '../core/errors.ts'
import type { OptionTable } from '../core/options.ts'
import { defined, isRecord } from '../messages/record.ts'

/** The capabilities that an agent publishes to other agents, in its A2A card. */
export interface AgentProfile {
  /** What the agent can do; at least one skill. Default: one skill with the agent's name and description. */
  readonly skills?: readonly AgentSkill[] | undefined
  /**
   * The media types that the agent accepts, such as `text/plain`. A2A messages with other types are rejected.
   * Default: all types are accepted, and the card has `text/plain` and `application/json`.
   */
  readonly inputModes?: readonly string[] | undefined
  /** The media types of the agent's output. Default: `text/plain` and `application/json`. */
  readonly outputModes?: readonly string[] | undefined
  /**
   * The input keys that the data parts of A2A messages may set. `*`: all keys. Default: the input keys of a
   * graph's state, or the keys of a function's `input` schema.
   */
  readonly inputKeys?: readonly string[] | '*' | undefined
}

/** `profileOf` validates their contents. */
export const AGENT_PROFILE: OptionTable<AgentProfile> = {
  skills: 'any',
  inputModes: 'any',
  outputModes: 'any',
  inputKeys: ['string', 'list'],
}

/** A capability of an agent. Source: the A2A specification, `AgentSkill`. */
export interface AgentSkill {
  /** Unique within the agent. */
  readonly id: string
  readonly name: string
  readonly description: string
  /** Keywords, at least one. */
  readonly tags: readonly string[]
  /** Requests that the skill can answer. */
  readonly examples?: readonly string[] | undefined
  /** The accepted media types, if they differ from the agent's. */
  readonly inputModes?: readonly string[] | undefined
  /** The media types of the output, if they differ from the agent's. */
  readonly outputModes?: readonly string[] | undefined
}

/**
 * The profile in the options. Throws `AgentwireError` `invalid_agent` if it is not valid in an agent card.
 */
export function profileOf({ skills, inputModes, outputModes, inputKeys }: AgentProfile): AgentProfile {
  const ids = new Set<string>()
  checkModes('', inputModes, outputModes)
  checkList('skills', skills, isRecord, 'skills')
  for (const [at, { id, name, description, tags, examples, ...modes }] of (skills ?? []).entries()) {
    const place = `skills[${at}].`
    for (const [key, text] of Object.entries({ id, name, description }))
      if (!isText(text)) refuse(place + key, 'a non-empty string')
    if (ids.has(id)) refuse(`${place}id`, 'unique')
    ids.add(id)
    checkList(`${place}tags`, tags ?? [], isText, 'texts')
    checkList(`${place}examples`, examples, isText, 'texts')
    checkModes(place, modes.inputModes, modes.outputModes)
  }
  if (inputKeys !== '*') checkList('inputKeys', inputKeys, isText, 'keys')
  return defined({ skills, inputModes, outputModes, inputKeys })
}

function checkModes(place: string, input: unknown, output: unknown): void {
  checkList(`${place}inputModes`, input, isMediaType, 'media types')
  checkList(`${place}outputModes`, output, isMediaType, 'media types')
}

/** Lists in an agent card must not be empty. */
function checkList(path: string, list: unknown, isItem: (item: unknown) => boolean, items: string): void {
  if (list !== undefined && !(Array.isArray(list) && list.length > 0 && list.every(isItem)))
    refuse(path, `a non-empty list of ${items}`)
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''

/** `type/subtype`, optionally with parameters. Source: RFC 6838 §4.2. */
const isMediaType = (value: unknown): boolean =>
  typeof value === 'string' && /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(\s*;.+)?$/.test(value)

function refuse(path: string, expected: string): never {
  throw new AgentwireError('invalid_agent', `${path} must be ${expected}.`)
}
