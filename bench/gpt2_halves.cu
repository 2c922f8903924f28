/*
 * gpt2_halves.cu: 510, and the two halves of its step, which it does not offer alone: its file as a
 * part of this one, in place of itself.
 *
 * The step makes each chunk of logits a gradient at once, so that the loss is a part of both
 * halves: forward is from the tokens to the losses, without gradients; a pass has these, too.
 */
#include "../solutions/phase5_full_network/510_gpt2/510_gpt2.cu"

extern "C" {
cudaError_t gpt2_forward(gpt2 *net, float *d_loss, const int *d_tokens, const int *d_targets);
cudaError_t gpt2_pass(gpt2 *net, float *d_loss, const int *d_tokens, const int *d_targets);
}

static cudaError_t losses_of(const gpt2 *net, int first, int rows, const int *d_targets)
{
    const int V = net->config.vocab, C = net->config.channels;
    product logits = {};
    logits.kind = NT, logits.m = rows, logits.n = V, logits.k = C;
    logits.a = net->lnf + (size_t)first * C, logits.a_pitch = C;
    logits.b = net->weights, logits.b_pitch = C;
    logits.out = net->logits, logits.out_pitch = net->pitch;
    CUDA_CHECK(multiply(&logits, &net->room, NULL));
    return loss_in_place(net->losses + first, net->logits, d_targets + first, rows, V, net->pitch,
                         1.0f / (net->batch * net->seq), NULL);
}

static cudaError_t mean_loss(const gpt2 *net, float *d_loss)
{
    return reduce_sum(d_loss, net->losses, (size_t)net->batch * net->seq, NULL);
}

cudaError_t gpt2_forward(gpt2 *net, float *d_loss, const int *d_tokens, const int *d_targets)
{
    const int n = net->batch * net->seq;
    CUDA_CHECK(forward(net, d_tokens, NULL));
    for (int first = 0; first < n; first += net->chunk) {
        const int rows = n - first < net->chunk ? n - first : net->chunk;
        CUDA_CHECK(losses_of(net, first, rows, d_targets));
    }
    return mean_loss(net, d_loss);
}

cudaError_t gpt2_pass(gpt2 *net, float *d_loss, const int *d_tokens, const int *d_targets)
{
    CUDA_CHECK(forward(net, d_tokens, NULL));
    CUDA_CHECK(head_all(net, d_targets, NULL));
    CUDA_CHECK(mean_loss(net, d_loss));
    return backward(net, d_tokens, NULL);
}
