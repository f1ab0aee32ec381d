import type { Agent } from '../../../agents/agent.ts'
import { A2AError } from '../errors.ts'
import type { A2AMessage, Part } from '../model.ts'
import { isResume } from './resume.ts'

/**
 * Throws `content_type_not_supported` for a part whose media type the agent does not accept. An agent without
 * `inputModes` accepts everything, and a file without a media type is always accepted.
 */
export function checkModes({ inputModes, skills = [] }: Agent, { parts }: A2AMessage): void {
  if (inputModes === undefined) return
  const modes = [...new Set([inputModes, ...skills.map((skill) => skill.inputModes ?? [])].flat())]
  const isRead = modes.map(matcher)
  for (const [index, part] of parts.entries()) {
    const type = typeOf(part)
    if (type === undefined || isResume(part) || isRead.some((reads) => reads(type))) continue
    throw new A2AError(
      'content_type_not_supported',
      `Incompatible content type: ${JSON.stringify(type)} of message.parts[${index}] is not supported. The agent accepts ${modes.join(', ')}.`,
      { field: `message.parts[${index}]` },
    )
  }
}

/** Media types without their parameters; `image/*` matches all images. */
function matcher(mode: string): (type: string) => boolean {
  const [range] = essenceOf(mode).split('*') as [string]
  return range === essenceOf(mode) ? (type) => type === range : (type) => type.startsWith(range)
}

const essenceOf = (type: string): string => type.split(';')[0]!.trim().toLowerCase()

function typeOf({ kind, mediaType }: Part): string | undefined {
  if (mediaType !== undefined) return essenceOf(mediaType)
  return kind === 'text' ? 'text/plain' : kind === 'data' ? 'application/json' : undefined
}
