#include "mlp_cases.h"

#include "digits.h"
#include "correctness/case.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FP32_ROUNDING 4e-7 /* of a sum of a few hundred terms, relative to a large one */

/* ---- the reference --------------------------------------------------------------------------- */

/* The four arrays of parameters. */
enum { W1, BIAS1, W2, BIAS2, PARTS = MLP_PARTS };
static const struct {
    const char *name;
    size_t begin, rows, cols;
} parts[PARTS] = {
    [W1] = {"w1", 0, MLP_HIDDEN, MLP_INPUTS},
    [BIAS1] = {"bias1", MLP_HIDDEN *MLP_INPUTS, 1, MLP_HIDDEN},
    [W2] = {"w2", MLP_HIDDEN *MLP_INPUTS + MLP_HIDDEN, MLP_CLASSES, MLP_HIDDEN},
    [BIAS2] = {"bias2", MLP_PARAMS - MLP_CLASSES, 1, MLP_CLASSES},
};

reference_mlp reference_mlp_create(const float *params)
{
    reference_mlp net = {.params = f64_array(MLP_PARAMS),
                         .grad = f64_array(MLP_PARAMS),
                         .m = f64_array(MLP_PARAMS),
                         .v = f64_array(MLP_PARAMS),
                         .nearest = INFINITY};
    for (int i = 0; i < MLP_PARAMS; i++) net.params[i] = params[i];
    return net;
}

/* One image. @return the |pre| nearest to 0 */
static double forward(const reference_mlp *net, double *hidden, double *logits, const float *x)
{
    const double *w1 = net->params + parts[W1].begin, *w2 = net->params + parts[W2].begin;
    double nearest = INFINITY;
    for (int i = 0; i < MLP_HIDDEN; i++) {
        double pre = net->params[parts[BIAS1].begin + i];
        for (int j = 0; j < MLP_INPUTS; j++) pre += w1[i * MLP_INPUTS + j] * x[j];
        nearest = fmin(nearest, fabs(pre));
        hidden[i] = pre < 0.0 ? 0.0 : pre;
    }
    for (int i = 0; i < MLP_CLASSES; i++) {
        logits[i] = net->params[parts[BIAS2].begin + i];
        for (int j = 0; j < MLP_HIDDEN; j++) logits[i] += w2[i * MLP_HIDDEN + j] * hidden[j];
    }
    return nearest;
}

/* Add weight times the gradient of one image's loss. @return the loss */
static double backward(reference_mlp *net, const double *hidden, const double *logits,
                       const float *x, int label, double weight)
{
    const double *w2 = net->params + parts[W2].begin;
    double largest = logits[0], sum = 0.0, grad_hidden[MLP_HIDDEN] = {0};
    for (int i = 1; i < MLP_CLASSES; i++) largest = fmax(largest, logits[i]);
    for (int i = 0; i < MLP_CLASSES; i++) sum += exp(logits[i] - largest);
    for (int i = 0; i < MLP_CLASSES; i++) {
        const bool is_label = i == label && net->mistake != MLP_NO_LABEL;
        const double grad = weight * (exp(logits[i] - largest) / sum - is_label);
        net->grad[parts[BIAS2].begin + i] += grad;
        for (int j = 0; j < MLP_HIDDEN; j++) {
            grad_hidden[j] += grad * w2[i * MLP_HIDDEN + j];
            net->grad[parts[W2].begin + i * MLP_HIDDEN + j] += grad * hidden[j];
        }
    }
    for (int i = 0; i < MLP_HIDDEN; i++) {
        if (hidden[i] == 0.0 && net->mistake != MLP_OPEN_RELU) continue;
        net->grad[parts[BIAS1].begin + i] += grad_hidden[i];
        for (int j = 0; j < MLP_INPUTS; j++) net->grad[i * MLP_INPUTS + j] += grad_hidden[i] * x[j];
    }
    return log(sum) + largest - logits[label];
}

/* Adam divides a gradient by its own size, so that where it is nearly 0 its rounding decides what
 * the step is. @return what that may come to in one step of one part, as a norm */
static double drift_of_step(const reference_mlp *net, int part, double lr, double correct2)
{
    const size_t begin = parts[part].begin, size = parts[part].rows * parts[part].cols;
    double largest = 0.0, squares = 0.0;
    for (size_t i = begin; i < begin + size; i++) largest = fmax(largest, fabs(net->grad[i]));
    for (size_t i = begin; i < begin + size; i++) {
        const double noise = net->grad[i] == 0.0 ? 0.0 : FP32_ROUNDING * largest;
        squares += pow(fmin(2.0, noise / (sqrt(net->v[i] / correct2) + 1e-8)), 2);
    }
    return lr * sqrt(squares);
}

static void adam(reference_mlp *net, double lr)
{
    const double beta1 = 0.9, beta2 = 0.999;
    net->step++;
    const int step = net->mistake == MLP_STEP_STUCK ? 1 : net->step;
    const bool correct = net->mistake != MLP_NO_CORRECTION;
    const double correct1 = correct ? 1.0 - pow(beta1, step) : 1.0;
    const double correct2 = correct ? 1.0 - pow(beta2, step) : 1.0;
    for (int i = 0; i < MLP_PARAMS; i++) {
        const double grad = net->grad[i];
        net->m[i] = beta1 * net->m[i] + (1.0 - beta1) * grad;
        net->v[i] = beta2 * net->v[i] + (1.0 - beta2) * grad * grad;
        const double v = net->v[i] / correct2, root = net->mistake == MLP_NO_ROOT ? v : sqrt(v);
        net->params[i] -= lr * (net->m[i] / correct1) / (root + 1e-8);
    }
    for (int p = 0; p < PARTS; p++) net->drift[p] += drift_of_step(net, p, lr, correct2);
}

double reference_mlp_train(reference_mlp *net, const float *x, const int *labels, int batch,
                           float lr)
{
    double hidden[MLP_HIDDEN], logits[MLP_CLASSES], loss = 0.0;
    const double weight = net->mistake == MLP_SUMMED ? 1.0 : 1.0 / batch;
    if (net->mistake != MLP_GRAD_KEPT) memset(net->grad, 0, MLP_PARAMS * sizeof *net->grad);
    for (int row = 0; row < batch; row++) {
        const float *image = x + (size_t)row * MLP_INPUTS;
        net->nearest = fmin(net->nearest, forward(net, hidden, logits, image));
        loss += backward(net, hidden, logits, image, labels[row], weight) / batch;
    }
    adam(net, lr);
    return loss;
}

void reference_mlp_predict(const reference_mlp *net, double *logits, const float *x, int batch)
{
    double hidden[MLP_HIDDEN];
    for (int row = 0; row < batch; row++) {
        forward(net, hidden, logits + (size_t)row * MLP_CLASSES, x + (size_t)row * MLP_INPUTS);
    }
}

/* ---- inputs ---------------------------------------------------------------------------------- */

float *mlp_random_params(float scale)
{
    float *params = f32_array(MLP_PARAMS);
    const float bound1 = scale / sqrtf(MLP_INPUTS), bound2 = scale / sqrtf(MLP_HIDDEN);
    const size_t first = parts[W2].begin;
    random_fill_uniform(case_random(), params, first, -bound1, bound1);
    random_fill_uniform(case_random(), params + first, MLP_PARAMS - first, -bound2, bound2);
    return params;
}

int *mlp_draw(float *images, int count)
{
    unsigned char image[DIGIT_PIXELS];
    int *labels = random_i32((size_t)count, 0, MLP_CLASSES);
    for (int i = 0; i < count; i++) {
        digits_draw(image, labels[i], case_random());
        for (int p = 0; p < DIGIT_PIXELS; p++) {
            images[(size_t)i * DIGIT_PIXELS + p] = (float)image[p] / 255.0f;
        }
    }
    return labels;
}

const mnist *mlp_data(void)
{
    static mnist data;
    char error[512];
    if (data.train.count == 0 && mnist_load(&data, error, sizeof error) != 0) {
        fail("the data cannot be read, which is no fault of this exercise: %s", error);
    }
    return &data;
}

/* ---- the student's network ------------------------------------------------------------------- */

#define FORWARD_FLOP  (2.0 * (MLP_INPUTS * MLP_HIDDEN + MLP_HIDDEN * MLP_CLASSES))
#define BACKWARD_FLOP (FORWARD_FLOP + 2.0 * MLP_HIDDEN * MLP_CLASSES) /* none to the images */

void mlp_expect_operations(const char *function, double trained, double predicted)
{
    expect_operations(function,
                      trained * (FORWARD_FLOP + BACKWARD_FLOP) + predicted * FORWARD_FLOP);
}

void mlp_create_here(const float *params)
{
    argument p = host(in_f32("params", params, MLP_PARAMS));
    if (case_place() == ON_HOST)
        call_returning_handle(0, "mlp_create_cpu", ARGS(p));
    else
        call_cuda("mlp_create", ARGS(handle_out(0), p));
}

float mlp_train_here(const float *x, const int *labels, int batch, float lr)
{
    float loss;
    argument images = in_f32("x", x, (size_t)batch * MLP_INPUTS);
    argument wanted = in_i32("labels", labels, (size_t)batch);
    if (case_place() == ON_HOST) {
        return call_returning_f32("mlp_train_batch_cpu",
                                  ARGS(handle(0), images, wanted, i32(batch), f32(lr)));
    }
    call_counted("mlp_train_batch", ARGS(handle(0), host(out_f32("h_loss", &loss, 1)), images,
                                         wanted, i32(batch), f32(lr), stream()));
    mlp_expect_operations("mlp_train_batch", batch, 0);
    return loss;
}

void mlp_predict_here(float *logits, const float *x, int batch)
{
    argument out = out_f32("logits", logits, (size_t)batch * MLP_CLASSES);
    argument images = in_f32("x", x, (size_t)batch * MLP_INPUTS);
    if (case_place() == ON_HOST) {
        call_void("mlp_predict_cpu", ARGS(handle(0), out, images, i32(batch)));
    } else {
        call_counted("mlp_predict", ARGS(handle(0), out, images, i32(batch), stream()));
        mlp_expect_operations("mlp_predict", 0, batch);
    }
}

void mlp_get_params_here(float *params)
{
    argument p = host(out_f32("params", params, MLP_PARAMS));
    if (case_place() == ON_HOST)
        call_void("mlp_get_params_cpu", ARGS(handle(0), p));
    else
        call_cuda("mlp_get_params", ARGS(handle(0), p));
}

void mlp_free_here(void)
{
    if (case_place() == ON_HOST)
        call_void("mlp_free_cpu", ARGS(handle(0)));
    else
        call_cuda("mlp_free", ARGS(handle(0)));
}

/* ---- judging --------------------------------------------------------------------------------- */

static double norm_of(const double *x, size_t count)
{
    double squares = 0.0;
    for (size_t i = 0; i < count; i++) squares += x[i] * x[i];
    return sqrt(squares);
}

/* Relative to the norm of a part. */
static double tolerance_of(const reference_mlp *reference, int part)
{
    const size_t count = parts[part].rows * parts[part].cols;
    return MLP_TOLERANCE +
           reference->drift[part] / norm_of(reference->params + parts[part].begin, count);
}

static bool has_nan(const float *x, size_t count)
{
    size_t i = 0;
    while (i < count && !isnan(x[i])) i++;
    return i < count;
}

static bool part_agrees(const reference_mlp *reference, const float *params, int part)
{
    const size_t begin = parts[part].begin, count = parts[part].rows * parts[part].cols;
    const double most = tolerance_of(reference, part) * norm_of(reference->params + begin, count);
    double *off = f64_array(count);
    for (size_t i = 0; i < count; i++) off[i] = params[begin + i] - reference->params[begin + i];
    return norm_of(off, count) <= most;
}

/* Where some parts are right, the mistake is in what the others alone need. */
static void name_right_parts(const reference_mlp *reference, const float *params, char text[64])
{
    int used = 0;
    text[0] = '\0';
    for (int part = 0; part < PARTS; part++) {
        if (!part_agrees(reference, params, part)) continue;
        used += snprintf(text + used, 64 - (size_t)used, "%s%s",
                         used ? ", " : " (right: ", parts[part].name);
    }
    if (used) snprintf(text + used, 64 - (size_t)used, ")");
}

void mlp_expect_these(const reference_mlp *reference, const float *params, const char *when)
{
    char right[64];
    name_right_parts(reference, params, right);
    for (int part = 0; part < PARTS; part++) {
        char name[128];
        const size_t begin = parts[part].begin;
        snprintf(name, sizeof name, "%s %s%s", parts[part].name, when, right);
        layout l = {name, parts[part].rows, parts[part].cols};
        expect(!has_nan(params + begin, l.rows * l.cols),
               "%s has NaN in it: inf / inf or 0 / 0, as Adam's bias correction gives for step 0, "
               "where 1 - beta^0 is 0: steps count from 1",
               name);
        expect_norm_close(l, params + begin, reference->params + begin, NULL, 0,
                          tolerance_of(reference, part));
    }
}

void mlp_expect_params(const reference_mlp *reference, const char *when)
{
    float *params = f32_array(MLP_PARAMS);
    mlp_get_params_here(params);
    mlp_expect_these(reference, params, when);
}

bool mlp_params_agree(const reference_mlp *reference, const float *params)
{
    int part = 0;
    while (part < PARTS && part_agrees(reference, params, part)) part++;
    return part == PARTS;
}

double mlp_accuracy(const float *logits, const int *labels, int count)
{
    int right = 0;
    for (int row = 0; row < count; row++) {
        const float *line = logits + (size_t)row * MLP_CLASSES;
        int best = 0;
        for (int i = 1; i < MLP_CLASSES; i++) {
            if (line[i] > line[best]) best = i;
        }
        right += best == labels[row];
    }
    return (double)right / count;
}

/* ---- cases ----------------------------------------------------------------------------------- */

#define STEPS_MAX 20
#define RUNS      3
#define LR        1e-3f

typedef struct training_step {
    float *x;
    int *labels;
    int batch;
    double loss; /* by the reference */
} training_step;

/* Inputs and losses of a training run, by the reference. Where a pre-activation comes so close to 0
 * that right fp32 may well see it on the other side, the run says nothing, and another is drawn. */
static reference_mlp draw_run(const float **params, training_step *steps, int count)
{
    for (;;) {
        *params = mlp_random_params(1.5f);
        reference_mlp reference = reference_mlp_create(*params);
        for (int i = 0; i < count; i++) {
            training_step *s = &steps[i];
            s->x = f32_array((size_t)s->batch * MLP_INPUTS);
            s->labels = mlp_draw(s->x, s->batch);
            s->loss = reference_mlp_train(&reference, s->x, s->labels, s->batch, LR);
        }
        if (reference.nearest >= MLP_SAFE_MARGIN) return reference;
    }
}

static int read_sizes(training_step *steps, const long *shape)
{
    int count = 0;
    if (shape[1] < 0) {
        while (count < -shape[1] && count < STEPS_MAX) steps[count++].batch = (int)shape[0];
    } else {
        while (count < SHAPE_MAX && shape[count] > 0) {
            steps[count].batch = (int)shape[count];
            count++;
        }
    }
    return count;
}

static bool params_agree(const reference_mlp *reference)
{
    float *params = f32_array(MLP_PARAMS);
    mlp_get_params_here(params);
    return mlp_params_agree(reference, params);
}

/* ---- likely mistakes ------------------------------------------------------------------------- */

static const char *const mistakes[MLP_MISTAKES] = {
    [MLP_NO_LABEL] = "; the gradient of the logits lacks the 1 of the label",
    [MLP_OPEN_RELU] =
        "; the gradient passes a ReLU whose output is 0: where hidden is 0 it must be 0",
    [MLP_NO_ROOT] = "; Adam divides by v, not by its root",
    [MLP_SUMMED] = "; the gradients are sums over the batch, not means; or, where the last batch "
                   "is short, they are divided by another batch's size",
    [MLP_GRAD_KEPT] = "; the gradients of the step before are still there: set them to 0",
    [MLP_NO_CORRECTION] = "; Adam's bias correction is missing",
    [MLP_STEP_STUCK] = "; Adam's bias correction is always that of step 1",
};

/* The steps up to `last` by a network with the mistake; *loss: of the last one. */
static reference_mlp train_wrongly(mlp_mistake mistake, const float *params,
                                   const training_step *steps, int last, double *loss)
{
    reference_mlp net = reference_mlp_create(params);
    net.mistake = mistake;
    for (int i = 0; i <= last; i++)
        *loss = reference_mlp_train(&net, steps[i].x, steps[i].labels, steps[i].batch, LR);
    return net;
}

const char *mlp_mistake_words(mlp_mistake mistake)
{
    return mistakes[mistake];
}

static bool is_loss(double loss, double want)
{
    return fabs(loss - want) <= MLP_TOLERANCE * want;
}

/* That of a loss, or, where that is right, of the parameters after it. */
static const char *mistake_of_step(const float *params, const training_step *steps, int last,
                                   double loss)
{
    double wrong_loss;
    float *now = f32_array(MLP_PARAMS);
    mlp_get_params_here(now);
    for (mlp_mistake m = MLP_RIGHT + 1; m < MLP_MISTAKES; m++) {
        const reference_mlp wrong = train_wrongly(m, params, steps, last, &wrong_loss);
        if (is_loss(loss, wrong_loss) && mlp_params_agree(&wrong, now)) return mistakes[m];
    }
    return "";
}

/* A run of the reference, and the same here. @return where the reference came to */
static reference_mlp train_both(training_step *steps, int count)
{
    const float *params;
    const reference_mlp after = draw_run(&params, steps, count);
    reference_mlp reference = reference_mlp_create(params);
    mlp_create_here(params);
    mlp_expect_params(&reference, "of the new network");
    for (int i = 0; i < count; i++) {
        const training_step *s = &steps[i];
        const float loss = mlp_train_here(s->x, s->labels, s->batch, LR);
        if (!is_loss(loss, s->loss))
            fail("the loss of step %d, a batch of %d, is %.8g, should be %.8g%s", i + 1, s->batch,
                 loss, s->loss, mistake_of_step(params, steps, i, loss));
        if (i > 0) continue;
        reference_mlp_train(&reference, s->x, s->labels, s->batch, LR);
        if (params_agree(&reference)) continue;
        const char *mistake = mistake_of_step(params, steps, i, loss);
        if (*mistake) fail("the parameters after 1 step are wrong%s", mistake);
        mlp_expect_params(&reference, "after 1 step");
    }
    return after;
}

/* Once in a while right fp32 still takes another branch of ReLU than the reference on its way, and
 * ends elsewhere: not RUNS times in a row. */
void mlp_parity(const long *shape)
{
    training_step steps[STEPS_MAX] = {0};
    const int count = read_sizes(steps, shape);
    reference_mlp after = train_both(steps, count);
    for (int run = 1; run < RUNS && !params_agree(&after); run++) {
        mlp_free_here();
        after = train_both(steps, count);
    }
    char when[32];
    snprintf(when, sizeof when, "after %d steps", count);
    mlp_expect_params(&after, when);
    mlp_free_here();
}

void mlp_prediction(const long *shape)
{
    const float *params = mlp_random_params(1.5f);
    const reference_mlp reference = reference_mlp_create(params);
    mlp_create_here(params);
    for (int i = 0; i < SHAPE_MAX && shape[i] > 0; i++) {
        const int batch = (int)shape[i];
        const size_t size = (size_t)batch * MLP_CLASSES;
        float *x = random_f32((size_t)batch * MLP_INPUTS), *logits = f32_array(size);
        double *want = f64_array(size);
        sprinkle_f32(x, (size_t)batch * MLP_INPUTS, NAN, batch > 1);
        reference_mlp_predict(&reference, want, x, batch);
        mlp_predict_here(logits, x, batch);
        expect_close((layout){"logits", (size_t)batch, MLP_CLASSES}, logits, want, NULL,
                     MLP_TOLERANCE);
    }
    mlp_expect_params(&reference, "after predictions, which must not move them,");
    mlp_free_here();
}

void mlp_first_loss(const long *shape)
{
    const int count = (int)shape[0];
    float *x = f32_array((size_t)count * MLP_INPUTS);
    float *logits = f32_array((size_t)count * MLP_CLASSES);
    const int *labels = mlp_draw(x, count);
    mlp_create_here(mlp_random_params(0.3f));
    mlp_predict_here(logits, x, count);
    const double accuracy = mlp_accuracy(logits, labels, count);
    expect(accuracy < 0.35,
           "a network with random parameters gets %.0f %% of drawn digits right; "
           "it can only guess",
           100 * accuracy);
    const float loss = mlp_train_here(x, labels, count, LR);
    expect(fabs(loss - log(10.0)) <= 0.1,
           "the first loss is %.4f; a network that knows nothing has ln 10 = 2.3026, +- 0.1", loss);
    mlp_free_here();
}

void mlp_overfit(const long *shape)
{
    const int batch = (int)shape[0], most = (int)shape[1];
    float *x = f32_array((size_t)batch * MLP_INPUTS), loss = INFINITY;
    const int *labels = mlp_draw(x, batch);
    mlp_create_here(mlp_random_params(1.0f));
    for (int step = 0; step < most && !(loss < 1e-2f); step++) {
        loss = mlp_train_here(x, labels, batch, 3 * LR);
    }
    expect(loss < 1e-2f, "after %d steps on one batch of %d the loss is %.4f, should be below 0.01",
           most, batch, loss);
    mlp_free_here();
}
