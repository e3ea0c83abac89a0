/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page numbers, and which pages are in the sample. Plain C: models, drivers and hardware agree
 * on it.
 */
#ifndef _LINUX_MMPATH_SAMPLE_H
#define _LINUX_MMPATH_SAMPLE_H

#include <linux/types.h>

/*
 * A page is named by its virtual page number in the low MMPATH_VPN_BITS, and above it whatever
 * the caller needs to tell address spaces apart.
 */
#define MMPATH_VPN_BITS		45
#define MMPATH_VPN_MASK		((1ULL << MMPATH_VPN_BITS) - 1)
#define MMPATH_MAX_SHIFT	24

/*
 * Spatial sampling. SHARDS (Waldspurger et al., FAST'15) keeps the pages with
 * hashes below a threshold. Here exactly one page is kept in each aligned block
 * of 2^shift pages, chosen by hash. So the rate is exact, a sampled page is
 * named by its block number without gaps, the sampled page of a block is
 * computed and not searched, and the sample at shift + 1 is a subset of that
 * at shift. See mmpath_sampled() and mmpath_sample_of_block().
 */
#define MMPATH_MIX_1	0x9e3779b97f4a7c15ULL
#define MMPATH_MIX_2	0xd6e8feb86659fd93ULL
#define MMPATH_UNMIX_1	0xf1de83e19937733dULL	/* times MMPATH_MIX_1 is 1 */
#define MMPATH_UNMIX_2	0xcfee444d8b59a89bULL

/*
 * Whether a page is the sampled one of its block may depend on its own bits and on the bits
 * above them, which are the number of the block, but on nothing else. In a product with an odd
 * number, and in an exclusive or with the number shifted left, a bit depends on itself and those
 * below. So the bits are reversed first, and then mixed. The low bits of the page number have
 * become the high bits, and the page is in the sample if these are 0. Each step can be undone, so
 * there is exactly one such page in a block.
 */
static inline u64 mmpath_reverse(u64 vpn)
{
	vpn = (vpn >> 1 & 0x5555555555555555ULL) | (vpn & 0x5555555555555555ULL) << 1;
	vpn = (vpn >> 2 & 0x3333333333333333ULL) | (vpn & 0x3333333333333333ULL) << 2;
	vpn = (vpn >> 4 & 0x0f0f0f0f0f0f0f0fULL) | (vpn & 0x0f0f0f0f0f0f0f0fULL) << 4;
	return __builtin_bswap64(vpn) >> (64 - MMPATH_VPN_BITS);
}

static inline u64 mmpath_mix(u64 x)
{
	x *= MMPATH_MIX_1;
	x ^= x << 11;
	x *= MMPATH_MIX_2;
	x ^= x << 17;
	return x * MMPATH_MIX_1 & MMPATH_VPN_MASK;
}

static inline u64 mmpath_unmix(u64 x)
{
	x *= MMPATH_UNMIX_1;
	x ^= x << 17;
	x ^= x << 34;
	x *= MMPATH_UNMIX_2;
	x ^= x << 11;
	x ^= x << 22;
	x ^= x << 44;
	return x * MMPATH_UNMIX_1 & MMPATH_VPN_MASK;
}

/*
 * Return the rank of a page, which decides for all shifts whether it is sampled. So it is
 * calculated once for a page that several models are asked about.
 */
static inline u64 mmpath_rank(u64 page)
{
	return mmpath_mix(mmpath_reverse(page & MMPATH_VPN_MASK));
}

/* Is a page of this rank in the sample that keeps one page in 2^@shift? */
static inline bool mmpath_rank_sampled(u64 rank, unsigned int shift)
{
	return !(rank >> (MMPATH_VPN_BITS - shift));
}

/* Is @page in that sample? */
static inline bool mmpath_sampled(u64 page, unsigned int shift)
{
	return mmpath_rank_sampled(mmpath_rank(page), shift);
}

/* The one sampled page in the block [@block << @shift, (@block + 1) << @shift). */
static inline u64 mmpath_sample_of_block(u64 block, unsigned int shift)
{
	u64 first = block << shift;
	u64 x = mmpath_mix(mmpath_reverse(first & MMPATH_VPN_MASK)) & (MMPATH_VPN_MASK >> shift);

	return (first & ~MMPATH_VPN_MASK) | mmpath_reverse(mmpath_unmix(x));
}

#endif /* _LINUX_MMPATH_SAMPLE_H */
