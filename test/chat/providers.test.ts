import { expect, test } from 'vitest'
import { chooseModels } from '../../examples/chat/server/models/models.ts'
import { chooseProvider } from '../../examples/chat/server/models/providers.ts'

test.each([
  [{ OPENAI_API_KEY: 'x' }, "OpenAI's gpt-5-mini", 'openai'],
  [{ ANTHROPIC_API_KEY: 'x' }, "Anthropic's claude-sonnet-4-5", 'anthropic'],
  [{ GOOGLE_API_KEY: 'x' }, "Google's gemini-2.5-flash", 'googlegenerativeai'],
  [{ GEMINI_API_KEY: 'x', GOOGLE_MODEL: 'gemini-x' }, "Google's gemini-x", 'googlegenerativeai'],
])('%j chooses %s for every role', async (env, label, type) => {
  expect(chooseProvider(env)?.label).toBe(label)
  const models = await chooseModels(env)
  expect(new Set(Object.values(models).map((model) => model._llmType()))).toEqual(new Set([type]))
})

test('without a key, or with an empty one, the models are scripted', async () => {
  expect(chooseProvider({ OPENAI_API_KEY: '' })).toBeUndefined()
  expect((await chooseModels({})).secretary._llmType()).toBe('scripted')
})
