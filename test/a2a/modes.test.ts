import { expect, test } from 'vitest'
import type { AgentSkill } from '../../src/agents/profile.ts'
import type { Part } from '../../src/faces/a2a/model.ts'
import { checkModes } from '../../src/faces/a2a/operations/decide.ts'
import { type AgentProfile, defineAgent } from '../../src/index.ts'

const read = (profile: AgentProfile, ...parts: Part[]) =>
  checkModes(defineAgent({ ...profile, run() {} }), { messageId: 'm', role: 'user', parts })

const bytes = (mediaType?: string): Part => ({ kind: 'bytes', bytes: 'dGNr', mediaType })
const text: Part = { kind: 'text', text: 'Hello' }
const data: Part = { kind: 'data', data: { a: 1 } }
const skill: AgentSkill = { id: 's', name: 's', description: 's', tags: ['s'] }

test('an agent that tells no modes is given everything', () => {
  read({}, text, data, bytes('application/x-anything'), bytes())
})

test('an agent is given the media types that it or one of its skills reads', () => {
  read({ inputModes: ['text/plain', 'application/json'] }, text, data, bytes('text/plain'))
  read({ inputModes: ['Text/Plain; charset=utf-8'] }, text, bytes('TEXT/plain;charset=ascii'))
  read({ inputModes: ['image/*'] }, bytes('image/png'))
  read({ inputModes: ['*/*'] }, text, bytes('video/mp4'))
  read({ inputModes: ['text/plain'], skills: [{ ...skill, inputModes: ['image/png'] }] }, bytes('image/png'))
})

test('other media types are refused, with the part and what the agent reads', () => {
  const refused = (mode: string, part: Part) => expect(() => read({ inputModes: [mode] }, text, part))
  refused('text/plain', bytes('image/png')).toThrow(
    'Incompatible content type: "image/png" of message.parts[1] is not supported. The agent accepts text/plain.',
  )
  refused('text/plain', data).toThrow('"application/json" of message.parts[1]')
  refused('text/*', bytes('texture/rough')).toThrow(
    expect.objectContaining({ code: 'content_type_not_supported' }),
  )
  expect(() => read({ inputModes: ['image/png'] }, text)).toThrow('"text/plain" of message.parts[0]')
})

test('a file without a media type, and an answer to a question, are let through', () => {
  read({ inputModes: ['text/plain'] }, bytes(), { kind: 'data', data: { resume: 'yes' } })
})
