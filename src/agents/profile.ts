import { AgentwireError } from '../errors.ts'
import { defined, isRecord } from '../messages/record.ts'

/** What an agent tells other agents of itself. Its A2A card shows it. */
export interface AgentProfile {
  /** What it can do, at least one. Default: one skill with the agent's name and description. */
  readonly skills?: readonly AgentSkill[] | undefined
  /** The media types that it reads, such as `text/plain`. Default: the face's own. */
  readonly inputModes?: readonly string[] | undefined
  /** The media types that it writes. Default: the face's own. */
  readonly outputModes?: readonly string[] | undefined
}

/** Something that an agent can do. Source: the A2A specification, `AgentSkill`. */
export interface AgentSkill {
  /** Unique within the agent. */
  readonly id: string
  readonly name: string
  readonly description: string
  /** Keywords, at least one. */
  readonly tags: readonly string[]
  /** Requests that it can answer. */
  readonly examples?: readonly string[] | undefined
  /** The media types that it reads, where they differ from those of the agent. */
  readonly inputModes?: readonly string[] | undefined
  /** The media types that it writes, where they differ from those of the agent. */
  readonly outputModes?: readonly string[] | undefined
}

/** The profile in the options of an agent. Throws `AgentwireError` (`invalid_agent`) where no agent card could have it. */
export function profileOf({ skills, inputModes, outputModes }: AgentProfile): AgentProfile {
  if (skills !== undefined) {
    checkList('skills', skills, isRecord, 'skills')
    for (const [at, skill] of skills.entries()) checkSkill(`skills[${at}].`, skill)
    const twice = skills.find(({ id }, at) => skills.findIndex((one) => one.id === id) < at)
    if (twice) refuse('skills', `must not have the id ${JSON.stringify(twice.id)} twice`)
  }
  checkModes('', { inputModes, outputModes })
  return defined({ skills, inputModes, outputModes })
}

function checkSkill(place: string, skill: AgentSkill): void {
  for (const key of ['id', 'name', 'description'] as const)
    if (!isText(skill[key])) refuse(place + key, 'must be a text that is not empty')
  checkList(`${place}tags`, skill.tags, isText, 'texts that are not empty')
  if (skill.examples !== undefined)
    checkList(`${place}examples`, skill.examples, isText, 'texts that are not empty')
  checkModes(place, skill)
}

function checkModes(place: string, modes: Pick<AgentProfile, 'inputModes' | 'outputModes'>): void {
  for (const key of ['inputModes', 'outputModes'] as const)
    if (modes[key] !== undefined)
      checkList(place + key, modes[key], isMediaType, 'media types, such as "text/plain"')
}

/** An agent card has no empty lists. */
function checkList(path: string, list: unknown, isItem: (item: unknown) => boolean, items: string): void {
  if (!Array.isArray(list) || list.length === 0 || !list.every(isItem))
    refuse(path, `must be a list of ${items}, with at least one`)
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''

/** `type/subtype`, with parameters or without. Source: RFC 6838 §4.2. */
const isMediaType = (value: unknown): boolean =>
  typeof value === 'string' && /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(\s*;.+)?$/.test(value)

function refuse(path: string, why: string): never {
  throw new AgentwireError('invalid_agent', `${path} ${why}.`)
}
