/** Vectors of which words a text has, in place of a model. */
const WORDS = ['drink', 'tea', 'work', 'build', 'bridge']

export const embed = async (texts: string[]): Promise<number[][]> =>
  texts.map((text) => {
    const lower = text.toLowerCase()
    return [...WORDS.map((word) => (lower.includes(word) ? 1 : 0)), 0.1]
  })
