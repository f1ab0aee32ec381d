import { describe, expect, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { AgentProfile } from '../../src/agents/profile.ts'
import { AgentwireError } from '../../src/core/errors.ts'
import { calculator } from '../fixtures/graphs.ts'

const skill = { id: 'weather', name: 'Weather', description: 'Tells the weather.', tags: ['weather'] }
const profile: AgentProfile = {
  skills: [
    skill,
    {
      ...skill,
      id: 'maps',
      examples: ['Where is Rome?'],
      inputModes: ['text/plain'],
      outputModes: ['image/*'],
    },
  ],
  inputModes: ['text/plain; charset=utf-8', 'application/vnd.api+json'],
  outputModes: ['application/json'],
}

const makers = {
  defineAgent: (given: AgentProfile & Pick<Agent, 'answersWith'>) =>
    defineAgent({ ...given, run: () => undefined }),
  langgraph: (given: AgentProfile & Pick<Agent, 'answersWith'>) => langgraph(calculator(), given),
}

describe.each(Object.entries(makers))('%s', (_name, make) => {
  test('an agent has the skills and modes that it was made with', () => {
    expect(make(profile)).toMatchObject(profile)
  })

  test('an agent that was made without them has none', () => {
    for (const key of ['skills', 'inputModes', 'outputModes']) expect(make({})).not.toHaveProperty(key)
  })

  test('an agent is asked how it answers by the function that it was made with', () => {
    const answersWith = () => 'message' as const
    expect(make({ answersWith }).answersWith).toBe(answersWith)
    expect(make({}).answersWith).toBeUndefined()
  })

  test.each([
    [{ skills: [] }, 'skills must be a non-empty list of skills.'],
    [{ skills: 'weather' }, 'skills must be a non-empty list'],
    [{ skills: null }, 'skills must be a non-empty list'],
    [{ skills: [null] }, 'skills must be a non-empty list'],
    [{ skills: [{ ...skill, id: '' }] }, 'skills[0].id must be a non-empty string.'],
    [{ skills: [{ ...skill, id: 7 }] }, 'skills[0].id'],
    [{ skills: [skill, { ...skill, id: 'b', name: ' ' }] }, 'skills[1].name'],
    [{ skills: [{ ...skill, description: undefined }] }, 'skills[0].description'],
    [{ skills: [{ ...skill, tags: undefined }] }, 'skills[0].tags must be a non-empty list of texts'],
    [{ skills: [{ ...skill, tags: [] }] }, 'skills[0].tags'],
    [{ skills: [{ ...skill, tags: [''] }] }, 'skills[0].tags'],
    [{ skills: [{ ...skill, examples: 'none' }] }, 'skills[0].examples'],
    [
      { skills: [{ ...skill, inputModes: ['text'] }] },
      'skills[0].inputModes must be a non-empty list of media types',
    ],
    [{ skills: [{ ...skill, outputModes: [] }] }, 'skills[0].outputModes'],
    [{ skills: [skill, skill] }, 'skills[1].id must be unique.'],
    [{ inputModes: ['text/plain', 'a b/c'] }, 'inputModes must be a non-empty list of media types'],
    [{ outputModes: 'text/plain' }, 'outputModes must be a non-empty list of media types'],
  ])('%j is refused, with its place', (given, message) => {
    const refusal = () => make(given as unknown as AgentProfile)
    expect(refusal).toThrow(message)
    expect(refusal).toThrow(AgentwireError)
    expect(refusal).toThrow(expect.objectContaining({ code: 'invalid_agent' }))
  })
})
