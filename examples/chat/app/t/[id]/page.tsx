/** The layout shows the thread of the address. */
export default function Thread() {
  return null
}
